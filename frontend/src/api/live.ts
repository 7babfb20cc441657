/**
 * The live socket: one for the whole page. Topics are counted, so that two views of one job share a subscription.
 * A frame that is missing, a reconnection and a silent hub all end in a fresh snapshot. See docs/protocol.md.
 */
import { asServerTime, setServerTime } from "@/lib/clock";
import type { ChangeFrame, Frame, SnapshotFrame } from "./live-frames";

export const PULSE_TIMEOUT_MS = 6000;
const INGEST_STALE_S = 5;
/** The most is short enough for a page that equals the API within 3 s after a cut has ended. */
const BACK_OFF_MS = { first: 200, most: 2000 };

export type LiveStatus =
  | { kind: "connecting" }
  | { kind: "live"; ingestAgeS: number | null }
  /** `since` is by the hub's clock. */
  | { kind: "stale"; since: number; why: string };

export interface Sink {
  snapshot(frame: SnapshotFrame): void;
  change(frame: ChangeFrame): void;
}

/** What the socket tells the rest of the page. */
export interface Around {
  /** After each connection that could not be opened or was lost: the session may be over. */
  lost?: () => void;
  /**
   * The hub is heard again after a loss: whatever was asked meanwhile may be old or may hang. `afterSilence`: the loss
   * was noticed by nothing but silence, so that other connections may be dead too.
   */
  back?: (afterSilence: boolean) => void;
  /** Which page this is, to be held against the one that the hub serves. Empty: not known. */
  build?: string;
  random?: () => number;
}

/** What of a WebSocket is used here. */
export type Socket = Pick<WebSocket, "onmessage" | "onclose" | "send" | "close">;

export class Live {
  private socket: Socket | null = null;
  private greeted = false;
  private failures = 0;
  private heardAt = Date.now();
  private openedAt = Date.now();
  private retry: ReturnType<typeof setTimeout> | undefined;
  private watchdog: ReturnType<typeof setInterval> | undefined;
  private readonly holders = new Map<string, number>();
  /** Number of the last frame of each topic. Absent: waiting for its snapshot. */
  private readonly seen = new Map<string, number>();
  private readonly listeners = new Set<() => void>();
  private current: LiveStatus = { kind: "connecting" };
  /** Why nothing can be live although the hub is heard. */
  private trouble: string | null = null;
  private ingestAgeS: number | null = null;
  private wasLost = false;
  private wasSilent = false;
  private outdated = false;

  constructor(
    private readonly open: () => Socket,
    private readonly sink: Sink,
    private readonly around: Around = {},
  ) {}

  start(): void {
    this.watchdog ??= setInterval(() => this.watch(), 1000);
    if (this.socket === null) this.connect();
  }

  stop(): void {
    clearInterval(this.watchdog);
    clearTimeout(this.retry);
    this.watchdog = undefined;
    this.drop();
  }

  /** Call it when the page is looked at again: timers of a hidden page may have slept. */
  wake(): void {
    if (this.watchdog === undefined) return;
    if (this.socket === null) this.connect();
    else this.watch();
  }

  /** Follow a topic until the returned function is called. */
  subscribe(topic: string): () => void {
    const holders = this.holders.get(topic) ?? 0;
    this.holders.set(topic, holders + 1);
    if (holders === 0 && this.greeted) this.send({ type: "subscribe", topic });
    let held = true;
    return () => {
      if (held) this.release(topic);
      held = false;
    };
  }

  readonly onStatus = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly status = (): LiveStatus => this.current;

  /** Whether the hub serves another page than this one. */
  readonly isOutdated = (): boolean => this.outdated;

  private release(topic: string): void {
    const left = (this.holders.get(topic) ?? 1) - 1;
    if (left > 0) {
      this.holders.set(topic, left);
      return;
    }
    this.holders.delete(topic);
    this.seen.delete(topic);
    if (this.greeted) this.send({ type: "unsubscribe", topic });
  }

  private connect(): void {
    clearTimeout(this.retry);
    const socket = this.open();
    this.socket = socket;
    this.openedAt = Date.now();
    this.greeted = false;
    this.seen.clear();
    socket.onmessage = (event) => this.receive(JSON.parse(String(event.data)) as Frame);
    socket.onclose = () => {
      if (this.socket === socket) this.reconnect("The connection to the hub was lost.");
    };
  }

  private drop(): void {
    const socket = this.socket;
    this.socket = null;
    this.greeted = false;
    if (socket === null) return;
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
  }

  private reconnect(why: string): void {
    this.drop();
    this.goStale(why);
    const random = (this.around.random ?? Math.random)();
    const delay = Math.min(BACK_OFF_MS.most, BACK_OFF_MS.first * 2 ** this.failures) * (0.5 + random / 2);
    this.failures += 1;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.connect(), delay);
    this.wasLost = true;
    this.around.lost?.();
  }

  /** A new connection gets its own 6 s, while the page goes on to say since when it has heard nothing. */
  private watch(): void {
    if (this.socket === null || Date.now() - Math.max(this.heardAt, this.openedAt) < PULSE_TIMEOUT_MS) return;
    this.wasSilent = true;
    this.reconnect("The hub has been silent for more than 6 s.");
  }

  private receive(frame: Frame): void {
    switch (frame.type) {
      case "hello":
        this.compare(frame.build ?? "");
        this.greet(frame.server_time, frame.redis);
        return;
      case "pulse":
        // Not at the greeting: a hub that greets and ends each time is asked less and less often too.
        this.failures = 0;
        this.pulse(frame.server_time, frame.redis, frame.ingest_age_s ?? null, frame.problem);
        return;
      case "snapshot":
        if (!this.holders.has(frame.topic)) return;
        this.seen.set(frame.topic, frame.n);
        this.sink.snapshot(frame);
        this.settle();
        return;
      case "change":
        this.change(frame);
        return;
      case "refused":
        // There is nothing to wait for.
        if (this.holders.has(frame.topic)) this.seen.set(frame.topic, 0);
        this.settle();
        return;
      default:
        // Kinds that a later hub may add.
        return;
    }
  }

  private greet(serverTime: string, redis: boolean): void {
    this.greeted = true;
    for (const topic of this.holders.keys()) this.send({ type: "subscribe", topic });
    this.pulse(serverTime, redis, null);
    if (this.wasLost) this.around.back?.(this.wasSilent);
    this.wasLost = this.wasSilent = false;
  }

  private compare(served: string): void {
    const own = this.around.build ?? "";
    this.outdated = own !== "" && served !== "" && own !== served;
  }

  private pulse(serverTime: string, redis: boolean, ingestAgeS: number | null, problem?: string | null): void {
    setServerTime(serverTime);
    this.ingestAgeS = ingestAgeS;
    if (!redis) this.trouble = problem ?? "The hub does not reach its Redis.";
    else if (ingestAgeS !== null && ingestAgeS > INGEST_STALE_S) this.trouble = "The hub's ingest does not turn.";
    else this.trouble = null;
    this.settle();
    this.heardAt = Date.now();
  }

  /** What is shown is old until each topic has brought its snapshot, although the hub is heard again. */
  private settle(): void {
    if (this.trouble !== null) this.goStale(this.trouble);
    else if (this.current.kind === "live" || [...this.holders.keys()].every((topic) => this.seen.has(topic)))
      this.become({ kind: "live", ingestAgeS: this.ingestAgeS });
  }

  private change(frame: ChangeFrame): void {
    const seen = this.seen.get(frame.topic);
    if (seen === undefined) return;
    if (frame.n !== seen + 1) {
      this.seen.delete(frame.topic);
      this.send({ type: "resync", topic: frame.topic });
      return;
    }
    this.seen.set(frame.topic, frame.n);
    this.sink.change(frame);
  }

  private send(message: { type: "subscribe" | "unsubscribe" | "resync"; topic: string }): void {
    this.socket?.send(JSON.stringify(message));
  }

  private goStale(why: string): void {
    const since = this.current.kind === "stale" ? this.current.since : asServerTime(this.heardAt);
    this.become({ kind: "stale", since, why });
  }

  private become(status: LiveStatus): void {
    this.current = status;
    for (const listener of this.listeners) listener();
  }
}

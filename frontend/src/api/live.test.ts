import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Live, PULSE_TIMEOUT_MS, type Socket } from "./live";
import type { ChangeFrame, SnapshotFrame } from "./live-frames";

class Line implements Socket {
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  readonly sent: { type: string; topic: string }[] = [];
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
  close() {}
  say(frame: object) {
    this.onmessage?.call(this as unknown as WebSocket, { data: JSON.stringify(frame) } as MessageEvent);
  }
  greet(values: object = {}) {
    this.say({ type: "hello", server_time: new Date().toISOString(), redis: true, build: "page-1.js", ...values });
  }
  pulse(values: object = {}) {
    this.say({ type: "pulse", server_time: new Date().toISOString(), redis: true, ingest_age_s: 0.2, ...values });
  }
  snapshot() {
    this.say({ type: "snapshot", topic: "job:1", n: 1, data: {} });
  }
  breakOff() {
    this.onclose?.call(this as unknown as WebSocket, {} as CloseEvent);
  }
}

let lines: Line[];
let live: Live;
let snapshots: SnapshotFrame[];
let changes: ChangeFrame[];
let backs: boolean[];
const line = () => lines.at(-1) as Line;
const change = (n: number) => ({ type: "change", topic: "job:1", n, version: n, set: {} });

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  snapshots = [];
  changes = [];
  backs = [];
  const open = () => {
    lines.push(new Line());
    return line();
  };
  const sink = { snapshot: (f: SnapshotFrame) => snapshots.push(f), change: (f: ChangeFrame) => changes.push(f) };
  live = new Live(open, sink, { back: (afterSilence) => backs.push(afterSilence), build: "page-1.js", random: () => 1 });
  live.start();
  live.subscribe("job:1");
  line().greet();
  line().snapshot();
});

afterEach(() => {
  live.stop();
  vi.useRealTimers();
});

test("a frame that is missing asks for a snapshot, and nothing is taken in until it comes", () => {
  line().say({ type: "snapshot", topic: "job:1", n: 1, data: {} });
  line().say(change(2));
  line().say(change(4));
  line().say(change(5));
  expect(line().sent.at(-1)).toEqual({ type: "resync", topic: "job:1" });
  expect(changes.map((frame) => frame.n)).toEqual([2]);
  line().say({ type: "snapshot", topic: "job:1", n: 1, data: {} });
  line().say(change(2));
  expect(snapshots).toHaveLength(3);
  expect(changes.map((frame) => frame.n)).toEqual([2, 2]);
});

test("two views of one topic share a subscription, and the last to leave ends it", () => {
  const leave = live.subscribe("jobs");
  const leaveToo = live.subscribe("jobs");
  leave();
  leave();
  expect(line().sent.filter((message) => message.topic === "jobs")).toEqual([{ type: "subscribe", topic: "jobs" }]);
  leaveToo();
  expect(line().sent.at(-1)).toEqual({ type: "unsubscribe", topic: "jobs" });
});

test("a lost connection is opened again and its topics are subscribed anew", () => {
  line().breakOff();
  expect(live.status()).toMatchObject({ kind: "stale" });
  vi.advanceTimersByTime(200);
  expect(lines).toHaveLength(2);
  line().greet();
  expect(live.status().kind).toBe("stale");
  line().pulse();
  expect(live.status().kind).toBe("stale");
  line().snapshot();
  expect(live.status().kind).toBe("live");
  expect(line().sent).toEqual([{ type: "subscribe", topic: "job:1" }]);
});

test("after a loss, and only then, everything else is asked for again", () => {
  expect(backs).toEqual([]);
  line().breakOff();
  vi.advanceTimersByTime(200);
  line().greet();
  expect(backs).toEqual([false]);
  vi.advanceTimersByTime(PULSE_TIMEOUT_MS + 2000);
  line().greet();
  expect(backs).toEqual([false, true]);
});

test("a hub that greets and ends each time is asked less and less often", () => {
  const waits: number[] = [];
  for (let i = 0; i < 3; i++) {
    line().greet();
    waits.push(waitAfterBreak());
  }
  line().pulse();
  waits.push(waitAfterBreak());
  expect(waits).toEqual([200, 400, 800, 200]);
});

test("a hub that serves another page makes this one outdated, and going back ends that", () => {
  expect(live.isOutdated()).toBe(false);
  line().greet({ build: "page-2.js" });
  expect(live.isOutdated()).toBe(true);
  line().greet({ build: "page-1.js" });
  expect(live.isOutdated()).toBe(false);
  line().greet({ build: null });
  expect(live.isOutdated()).toBe(false);
});

test("since when nothing was heard is told by the hub's clock", () => {
  const ahead = new Date(Date.now() + 3_600_000).toISOString();
  line().pulse({ server_time: ahead });
  line().breakOff();
  expect(live.status()).toMatchObject({ kind: "stale", since: Date.parse(ahead) });
});

function waitAfterBreak(): number {
  const before = Date.now();
  const opened = lines.length;
  line().breakOff();
  while (lines.length === opened) vi.advanceTimersByTime(100);
  return Date.now() - before;
}

test("each failure to connect waits longer, two seconds at most", () => {
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    waits.push(waitAfterBreak());
  }
  expect(waits).toEqual([200, 400, 800, 1600, 2000, 2000, 2000, 2000]);
});

test("a topic that is refused is not waited for", () => {
  line().breakOff();
  vi.advanceTimersByTime(200);
  line().greet();
  line().say({ type: "refused", topic: "job:1", what: "There is no job 1.", reason: "unknown_topic" });
  expect(live.status().kind).toBe("live");
});

test("a hub that is silent for six seconds is not live since its last word", () => {
  vi.advanceTimersByTime(1000);
  line().pulse();
  const heard = Date.now();
  vi.advanceTimersByTime(PULSE_TIMEOUT_MS - 1000);
  expect(live.status().kind).toBe("live");
  vi.advanceTimersByTime(2000);
  expect(live.status()).toMatchObject({ kind: "stale", since: heard });
});

test("a pulse without Redis, or with an ingest that does not turn, is not live", () => {
  line().pulse({ redis: false });
  expect(live.status()).toMatchObject({ kind: "stale", why: "The hub does not reach its Redis." });
  line().pulse();
  expect(live.status()).toEqual({ kind: "live", ingestAgeS: 0.2 });
  line().pulse({ ingest_age_s: 8 });
  expect(live.status().kind).toBe("stale");
});

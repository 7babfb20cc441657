/** Marks on the timeline: how each kind is drawn, on a canvas and in words. */
import type { MarkOut } from "@/api";
import { never } from "@/lib/never";

export type MarkKind = MarkOut["kind"];

export const MARKS: Record<MarkKind, { word: string; tone: string }> = {
  failure: { word: "failure", tone: "--red" },
  kill: { word: "killed by hand", tone: "--ink" },
  checkpoint: { word: "checkpoint", tone: "--ink" },
  join: { word: "node joined", tone: "--ink" },
  leave: { word: "node left", tone: "--ink" },
  resumed: { word: "resumed", tone: "--ink" },
  ended: { word: "ended", tone: "--ink" },
};

/** The outline of a mark around 0, 0, about 10 px wide. */
export function outline(kind: MarkKind): Path2D {
  switch (kind) {
    case "failure":
      return new Path2D("M-4 -4L4 4M4 -4L-4 4");
    case "kill":
      return new Path2D("M1 -6L-3 1H0L-1 6L3 -1H0Z");
    case "checkpoint":
      return new Path2D("M3.5 0A3.5 3.5 0 1 1 -3.5 0A3.5 3.5 0 1 1 3.5 0");
    case "join":
      return new Path2D("M-4 0H4M0 -4V4");
    case "leave":
      return new Path2D("M-4 0H4");
    case "resumed":
      return new Path2D("M-3 -4L4 0L-3 4Z");
    case "ended":
      return new Path2D("M-4 -4H4V4H-4Z");
    default:
      return never(kind);
  }
}

const APART_PX = 12;
const CHECKPOINTS_APART_PX = 32;
/** Kinds of which one says as much as several at the same place. */
const REPEATED: ReadonlySet<MarkKind> = new Set(["checkpoint", "resumed"]);

export interface Placed {
  mark: MarkOut;
  x: number;
}

/** Marks in order of time, none upon another: repetitions are left out, the rest is moved aside a little. */
export function placed(marks: readonly MarkOut[], xOfMark: (mark: MarkOut) => number): Placed[] {
  const last = new Map<string, Placed>();
  const checkpoint = new Map<string, number>();
  const found: Placed[] = [];
  for (const mark of [...marks].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const lane = mark.node ?? "";
    const before = last.get(lane);
    if (mark.kind === "checkpoint") {
      if (xOfMark(mark) - (checkpoint.get(lane) ?? -Infinity) < CHECKPOINTS_APART_PX) continue;
      checkpoint.set(lane, xOfMark(mark));
    }
    const isCrowded = before !== undefined && xOfMark(mark) - before.x < APART_PX;
    if (isCrowded && REPEATED.has(mark.kind) && before.mark.kind === mark.kind) continue;
    const next = { mark, x: isCrowded ? before.x + APART_PX : xOfMark(mark) };
    last.set(lane, next);
    found.push(next);
  }
  return found;
}

/** Marks on the timeline: how each kind is drawn, in words, and which of those in view have room. */
import type { MarkOut } from "@/api";
import type { Tone } from "@/lib/states";

export type MarkKind = MarkOut["kind"];

interface MarkLook {
  word: string;
  tone: Tone | "ink";
  /** Its outline around 0, 0, about 10 px wide. */
  path: string;
  filled?: true;
}

export const MARKS: Record<MarkKind, MarkLook> = {
  failure: { word: "failure", tone: "red", path: "M-4-4L4 4M4-4L-4 4" },
  stall: { word: "stalled", tone: "amber", path: "M0-5L5 0L0 5L-5 0Z", filled: true },
  kill: { word: "killed by hand", tone: "ink", path: "M1-6L-3 1H0L-1 6L3-1H0Z", filled: true },
  fault: { word: "fault by hand", tone: "ink", path: "M-5 4L0-5L5 4Z" },
  checkpoint: { word: "checkpoint", tone: "ink", path: "M3.5 0A3.5 3.5 0 1 1-3.5 0A3.5 3.5 0 1 1 3.5 0" },
  join: { word: "node joined", tone: "ink", path: "M-4 0H4M0-4V4" },
  leave: { word: "node left", tone: "ink", path: "M-4 0H4" },
  resumed: { word: "resumed", tone: "ink", path: "M-3-4L4 0L-3 4Z" },
  ended: { word: "ended", tone: "ink", path: "M-4-4H4V4H-4Z", filled: true },
};

const APART_PX = 12;
/** From its true place a mark is moved aside no further than that. */
const ASIDE_PX = 36;
const CHECKPOINTS_APART_PX = 32;
/** Kinds of which one says as much as several at the same place. */
const REPEATED: ReadonlySet<MarkKind> = new Set(["checkpoint", "resumed"]);

export interface Placed {
  mark: MarkOut;
  x: number;
}

interface At {
  at: number;
  mark: MarkOut;
}

/**
 * Those of the marks, which come in order of time, that have room: repetitions are left out, the rest is moved aside
 * a little. Which checkpoints are left out depends on their times alone, so that none comes and goes with a move.
 */
export function placed(marks: readonly At[], xOf: (at: number) => number, pxPerMs: number): Placed[] {
  const last = new Map<string, Placed>();
  const taken = new Set<string>();
  const found: Placed[] = [];
  for (const { at, mark } of marks) {
    const lane = mark.node ?? "";
    if (mark.kind === "checkpoint") {
      const stretch = `${lane} ${Math.floor((at * pxPerMs) / CHECKPOINTS_APART_PX)}`;
      if (taken.has(stretch)) continue;
      taken.add(stretch);
    }
    const x = aside(xOf(at), mark, last.get(lane));
    if (x === undefined) continue;
    const next = { mark, x };
    last.set(lane, next);
    found.push(next);
  }
  return found;
}

/** Where there is room beside the one before; undefined: nowhere near. */
function aside(x: number, mark: MarkOut, before: Placed | undefined): number | undefined {
  if (before === undefined || x - before.x >= APART_PX) return x;
  if (REPEATED.has(mark.kind) && before.mark.kind === mark.kind) return undefined;
  const moved = before.x + APART_PX;
  return moved - x <= ASIDE_PX ? moved : undefined;
}

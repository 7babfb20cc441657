/** What the wall time of a job went to, in words and shares. Pure. */
import type { GoodputOut, GoodputPart } from "@/api";
import { formatDuration } from "@/lib/format";

export type TimeKind = GoodputPart["kind"];

/** In the order of the page: what counts first, then what was spent on the way to it. */
export const TIME_KINDS: Record<TimeKind, { word: string; meaning: string }> = {
  training: { word: "training", meaning: "steps that count" },
  redone: { word: "steps done again", meaning: "after a restart, from the checkpoint up to where it had been" },
  checkpoint: { word: "loading checkpoints", meaning: "until the workers said from which step they go on" },
  start: { word: "starting", meaning: "processes, process group and the way to the first step" },
  rendezvous: { word: "rendezvous", meaning: "until the nodes had agreed on a round" },
  down: { word: "down", meaning: "from a failure, or a change of nodes, until steps were done again" },
  stalled: { word: "stalled", meaning: "workers that ran and came no further" },
  queue: { word: "in the queue", meaning: "before the nodes of an attempt set out" },
  unknown: { word: "not known", meaning: "the workers ran and reported no steps" },
};

const ORDER = Object.keys(TIME_KINDS) as TimeKind[];

/** Spent by nobody's wish or fault: whether it was planned is no question. */
const NEVER_PLANNED: ReadonlySet<TimeKind> = new Set(["training", "queue", "unknown"]);

export interface TimeRow {
  kind: TimeKind;
  word: string;
  meaning: string;
  /** Null: it is not measured. */
  seconds: number | null;
  /** Of the wall time, 0 to 1. */
  share: number;
  /** Null where nobody could have planned it, or where nothing is measured. */
  planned: number | null;
  unplanned: number | null;
  hours: number;
}

export function timeRows({ parts, wall_s }: GoodputOut): TimeRow[] {
  return [...parts].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)).map((part) => rowOf(part, wall_s));
}

function rowOf({ kind, seconds, planned_s, worker_hours }: GoodputPart, wall: number): TimeRow {
  const isAsked = seconds !== null && !(NEVER_PLANNED.has(kind) && planned_s === 0);
  return {
    kind,
    ...TIME_KINDS[kind],
    seconds,
    share: wall > 0 ? (seconds ?? 0) / wall : 0,
    planned: isAsked ? planned_s : null,
    unplanned: isAsked ? seconds - planned_s : null,
    hours: worker_hours,
  };
}

/** Rounded, unlike an age: "59 s" is nearer to 58.6 s than "58 s". */
export function formatSpent(seconds: number): string {
  return formatDuration(seconds < 9.95 ? seconds : Math.round(seconds));
}

/** "91 %", "0.4 %", "< 0.1 %". */
export function formatShare(share: number): string {
  const percent = 100 * share;
  if (percent === 0) return "0 %";
  if (percent < 0.1) return "< 0.1 %";
  return `${percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

/** "0.42", "12.3", "1,204": hours of workers or GPUs. */
export function formatHours(hours: number): string {
  if (hours === 0) return "0";
  if (hours < 0.005) return "< 0.01";
  if (hours >= 1000) return Math.round(hours).toLocaleString("en");
  return hours.toFixed(hours < 9.995 ? 2 : 1);
}

/** Where times and rows stand on the timeline. Pure. */
import type { RoundOut, TimelineOut } from "@/api";

export const RANGES = { "10m": 600_000, "1h": 3_600_000, all: Infinity } as const;
export type Range = keyof typeof RANGES;

export const LABELS_PX = 96;
export const AXIS_PX = 20;
export const ROUNDS_PX = 16;
export const WORLD_PX = 36;
export const LANE_PX = 24;
const END_PX = 12;

export interface View {
  /** Milliseconds since the epoch. */
  from: number;
  to: number;
  width: number;
}

/** The part of a timeline that a range shows when it ends at `end`. */
export function viewOf(timeline: TimelineOut, range: Range, end: number, width: number): View {
  const began = Date.parse(timeline.began_at);
  const to = Math.max(end, began + 1000);
  return { from: Math.max(began, to - RANGES[range]), to, width };
}

export function xOf(view: View, at: number): number {
  const room = Math.max(1, view.width - LABELS_PX - END_PX);
  return LABELS_PX + ((at - view.from) / (view.to - view.from)) * room;
}

export function atX(view: View, x: number): number {
  const room = Math.max(1, view.width - LABELS_PX - END_PX);
  return view.from + ((x - LABELS_PX) / room) * (view.to - view.from);
}

export function laneTop(index: number): number {
  return AXIS_PX + ROUNDS_PX + WORLD_PX + index * LANE_PX;
}

export function heightOf(timeline: TimelineOut): number {
  return laneTop(timeline.lanes.length) + 4;
}

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400];

/** Round moments for the axis, at least 90 px apart. */
export function ticksOf(view: View): number[] {
  const perPx = (view.to - view.from) / Math.max(1, view.width - LABELS_PX);
  const step = 1000 * (STEPS_S.find((s) => s * 1000 >= perPx * 90) ?? 604_800);
  const ticks: number[] = [];
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) ticks.push(at);
  return ticks;
}

export interface Level {
  from: number;
  to: number;
  size: number;
}

/** The formed world size over time: what a round had, and nothing from its end until the next is formed. */
export function levelsOf({ rounds, lanes }: TimelineOut, end: number): Level[] {
  const breaks = lanes
    .flatMap((lane) => lane.spans)
    .filter((span) => span.phase === "restarting" || span.phase === "rendezvous")
    .map((span) => Date.parse(span.began_at))
    .sort((a, b) => a - b);
  return rounds.map((round, index) => {
    const from = Date.parse(round.formed_at);
    const next = rounds[index + 1];
    const bound = next === undefined ? end : Date.parse(next.formed_at);
    const broken = breaks.find((at) => at > from && at < bound);
    return { from, to: broken ?? bound, size: round.world_size };
  });
}

/** The round that was the newest one at that moment. */
export function roundAt(rounds: readonly RoundOut[], at: number): RoundOut | undefined {
  return rounds.findLast((round) => Date.parse(round.formed_at) <= at);
}

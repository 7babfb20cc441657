/** Where times and rows stand on the timeline. Pure. */
import { formatClock, formatMoment } from "@/lib/format";

export const LABELS_PX = 104;
export const AXIS_PX = 20;
export const ROUNDS_PX = 16;
export const WORLD_PX = 36;
/** Axis, round numbers and world size: they stay in place while the lanes scroll. */
export const HEAD_PX = AXIS_PX + ROUNDS_PX + WORLD_PX;
export const NODE_PX = 24;
export const RANK_PX = 18;
/** More than that is scrolled. */
export const LANES_MOST_PX = 480;
const END_PX = 12;

export interface View {
  /** Milliseconds since the epoch. */
  from: number;
  to: number;
  width: number;
}

/** The pixels that time has. */
export function roomOf(width: number): number {
  return Math.max(1, width - LABELS_PX - END_PX);
}

export function xOf(view: View, at: number): number {
  return LABELS_PX + ((at - view.from) / (view.to - view.from)) * roomOf(view.width);
}

export function atX(view: View, x: number): number {
  return view.from + ((x - LABELS_PX) / roomOf(view.width)) * (view.to - view.from);
}

const DAY_S = 86_400;
const STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, DAY_S];
const APART_PX = 90;

export interface Tick {
  at: number;
  label: string;
}

/** Round moments for the axis, at least 90 px apart, as exact as they need to be. */
export function ticksOf(view: View): Tick[] {
  const perPx = (view.to - view.from) / roomOf(view.width);
  const step_s = STEPS_S.find((s) => s * 1000 >= perPx * APART_PX) ?? 7 * DAY_S;
  const step = 1000 * step_s;
  const ticks: Tick[] = [];
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) ticks.push({ at, label: labelOf(at, step_s) });
  return ticks;
}

function labelOf(at: number, step_s: number): string {
  return step_s >= DAY_S / 2 ? formatMoment(at).slice(5, 16) : formatClock(at, step_s < 1);
}

/** The first index whose value is above `at`, in values that only grow. */
export function firstAbove(values: Float64Array, at: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

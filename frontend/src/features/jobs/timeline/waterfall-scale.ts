/** Where the phases of the way into a round stand on one axis. Pure. */
import type { PhaseOut } from "@/api";

export type PhaseName = PhaseOut["name"];

/** Milliseconds since the epoch. */
export interface Axis {
  from: number;
  to: number;
}

export interface Bar {
  name: PhaseName;
  /** In percent of the axis. */
  left: number;
  width: number;
}

/** The way back ends with the first step. How long steps were slow after it would dwarf all before. */
export function wayBack(phases: readonly PhaseOut[]): PhaseOut[] {
  return phases.filter((phase) => phase.name !== "pace");
}

/** From the first moment to the last one of all that is drawn; null when nothing was reported. */
export function axisOf(phases: readonly PhaseOut[]): Axis | null {
  const spans = wayBack(phases).flatMap((phase) => spanOf(phase) ?? []);
  if (spans.length === 0) return null;
  const both = (a: Axis, b: Axis) => ({ from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) });
  const { from, to } = spans.reduce(both);
  return { from, to: Math.max(to, from + 1) };
}

function spanOf({ start, seconds }: PhaseOut): Axis | null {
  if (start === null || seconds === null) return null;
  const from = Date.parse(start);
  return { from, to: from + 1000 * seconds };
}

export function barsOf(phases: readonly PhaseOut[], axis: Axis): Bar[] {
  return wayBack(phases).flatMap((phase) => {
    const span = spanOf(phase);
    if (span === null) return [];
    const left = percent(span.from, axis);
    return [{ name: phase.name, left, width: percent(span.to, axis) - left }];
  });
}

/** Where a phase would have ended had it taken as long as it does mostly; null beyond the end of the axis. */
export function medianTick({ start }: PhaseOut, median: number, axis: Axis): number | null {
  if (start === null) return null;
  const at = percent(Date.parse(start) + 1000 * median, axis);
  return at <= 100 ? at : null;
}

function percent(at: number, { from, to }: Axis): number {
  return (100 * (at - from)) / (to - from);
}

const STEPS = [1, 2, 5, 10];
const MOST_TICKS = 5;

/** Round seconds for the axis, at most five steps of them. */
export function secondsOf({ from, to }: Axis): number[] {
  const length = (to - from) / 1000;
  const size = 10 ** Math.floor(Math.log10(length / MOST_TICKS));
  const step = size * (STEPS.find((each) => each * size * MOST_TICKS >= length) ?? 10);
  return Array.from({ length: Math.floor(length / step + 1e-9) + 1 }, (_, index) => index * step);
}

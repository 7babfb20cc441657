/** The stretches of one lane, prepared for drawing: in order, none over another, found by halving. Pure. */
import { firstAbove, xOf, type View } from "./scale";

/** One stretch as it was told. `to` Infinity: it is not over. */
export interface Stretched {
  from: number;
  to: number;
  look: number;
  round: number | null;
}

export interface Bars {
  from: Float64Array;
  to: Float64Array;
  look: Uint8Array;
  /** 0: no round. */
  round: Int32Array;
}

export function barsOf(told: readonly Stretched[]): Bars {
  const sorted = [...told].sort((a, b) => a.from - b.from);
  return {
    from: Float64Array.from(sorted, (each) => each.from),
    // A lane does one thing at a time: what a silent node never closed ends where the next begins.
    to: Float64Array.from(sorted, (each, index) => Math.min(each.to, sorted[index + 1]?.from ?? Infinity)),
    look: Uint8Array.from(sorted, (each) => each.look),
    round: Int32Array.from(sorted, (each) => each.round ?? 0),
  };
}

/** The index of the bar at that moment; undefined: there is none. */
export function barAt(bars: Bars, at: number): number | undefined {
  const index = firstAbove(bars.to, at);
  return index < bars.from.length && (bars.from[index] as number) <= at ? index : undefined;
}

export type Put = (left: number, right: number, look: number) => void;

/** Narrower than that is drawn after the rest, one for each column of that width. */
const NARROW_PX = 2;

/** Gives every bar in view to `put`, in pixels. Of those in one column the gravest is given. */
export function eachBar(bars: Bars, view: View, now: number, put: Put): void {
  const columns = new Map<number, number>();
  for (let index = firstAbove(bars.to, view.from); index < bars.from.length; index += 1) {
    const from = bars.from[index] as number;
    if (from > view.to) break;
    const left = xOf(view, from);
    const right = xOf(view, Math.min(bars.to[index] as number, Math.max(from, now)));
    const look = bars.look[index] as number;
    if (right - left >= NARROW_PX) put(left, right, look);
    else addTo(columns, Math.floor(left / NARROW_PX), look);
  }
  for (const [column, look] of columns) put(column * NARROW_PX, (column + 1) * NARROW_PX, look);
}

function addTo(columns: Map<number, number>, column: number, look: number): void {
  const held = columns.get(column);
  if (held === undefined || held < look) columns.set(column, look);
}

/** A curve of step or loss in the time axis of the timeline. Pure but for the drawing at the end. */
import type { CurvePoint } from "@/api";
import { formatMetric } from "@/lib/format";
import type { Palette } from "./palette";
import { LABELS_PX, xOf, type View } from "./scale";

export const CURVE_PX = 56;
const EDGE_PX = 8;
/** So many times the usual distance without a point is a gap: nothing is known of it. */
const GAP = 3;

export interface Spot {
  at: number;
  value: number;
  attempt: number;
}

/** What the points tell of that name; those that do not tell it are left out. */
export function spotsOf(points: readonly CurvePoint[], name: string): Spot[] {
  return points.flatMap(({ at, attempt, step, metrics }) => {
    const value = name === "step" ? step : metrics[name];
    return value === undefined ? [] : [{ at: Date.parse(at), value, attempt }];
  });
}

/** Stretches to draw in one stroke: another attempt, and a gap in time, begin another one. */
export function strokesOf(spots: readonly Spot[], everyMs: number): Spot[][] {
  const strokes: Spot[][] = [];
  for (const spot of spots) {
    const before = strokes.at(-1)?.at(-1);
    const goesOn = before !== undefined && before.attempt === spot.attempt && spot.at - before.at <= GAP * everyMs;
    if (goesOn) strokes.at(-1)?.push(spot);
    else strokes.push([spot]);
  }
  return strokes;
}

export interface Extent {
  low: number;
  high: number;
}

/** The least and the most of what is in view. Null: nothing is. */
export function extentOf(spots: readonly Spot[], { from, to }: View): Extent | null {
  let low = Infinity;
  let high = -Infinity;
  for (const { at, value } of spots) {
    if (at < from || at > to) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low === Infinity ? null : { low, high };
}

export function yOf({ low, high }: Extent, value: number): number {
  const share = high === low ? 0.5 : (value - low) / (high - low);
  return CURVE_PX - EDGE_PX - share * (CURVE_PX - 2 * EDGE_PX);
}

export function drawCurve(canvas: HTMLCanvasElement, palette: Palette, view: View, strokes: readonly Spot[][]): void {
  const { ratio, ink } = palette;
  fit(canvas, Math.round(view.width * ratio), Math.round(CURVE_PX * ratio));
  const pen = canvas.getContext("2d");
  const extent = extentOf(strokes.flat(), view);
  if (pen === null) return;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, view.width, CURVE_PX);
  if (extent === null) return;
  pen.font = palette.font;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  pen.fillStyle = ink["ink-2"];
  pen.fillText(formatMetric(extent.high), LABELS_PX - 8, EDGE_PX);
  if (extent.low !== extent.high) pen.fillText(formatMetric(extent.low), LABELS_PX - 8, CURVE_PX - EDGE_PX);
  pen.save();
  pen.beginPath();
  pen.rect(LABELS_PX, 0, view.width - LABELS_PX, CURVE_PX);
  pen.clip();
  pen.strokeStyle = ink.ink;
  pen.lineWidth = 1.5;
  pen.lineJoin = "round";
  for (const stroke of strokes) drawStroke(pen, stroke, view, extent);
  pen.restore();
}

/** A single point is drawn as wide as it can be seen. */
function drawStroke(pen: CanvasRenderingContext2D, stroke: readonly Spot[], view: View, extent: Extent): void {
  pen.beginPath();
  stroke.forEach(({ at, value }, index) => {
    const [x, y] = [xOf(view, at), yOf(extent, value)];
    if (index === 0) pen.moveTo(x, y);
    pen.lineTo(index === 0 ? x + 1 : x, y);
  });
  pen.stroke();
}

function fit(canvas: HTMLCanvasElement, width: number, height: number): void {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

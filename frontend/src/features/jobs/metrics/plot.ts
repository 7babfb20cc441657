/** How uPlot draws a metric: ink on paper, rounds shaded lightly, and a line where a round began. */
import uPlot from "uplot";
import { formatClock, formatCount, formatMetric, formatMoment } from "@/lib/format";
import type { Columns, Mark } from "./series";
import { shadesOf } from "./series";
import type { Axis } from "./view";

export const CHART_PX = 176;

export interface Picture {
  axis: Axis;
  isLog: boolean;
  /** Of x. Null: all there is. */
  span: { from: number; to: number } | null;
  marks: Mark[];
}

export interface Doings {
  zoom: (from: number, to: number) => void;
  reset: () => void;
  /** The cursor is at that place of the columns; null: it is not in the chart. */
  point: (index: number | null, x: number | null) => void;
}

interface Inks {
  ink: string;
  quiet: string;
  line: string;
  band: string;
  shade: string;
  marks: Record<Mark["kind"], string>;
  font: string;
}

function readInks(element: HTMLElement): Inks {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: colour("ink"),
    quiet: colour("ink-2"),
    line: colour("line"),
    band: colour("grey-pale"),
    shade: colour("band"),
    marks: { start: colour("ink-3"), failure: colour("red"), membership: colour("violet") },
    font: `12px ${style.fontFamily}`,
  };
}

/** `picture` is asked for each time something is drawn, so that live data needs no new chart. */
export function makePlot(box: HTMLElement, picture: () => Picture, does: Doings): uPlot {
  const inks = readInks(box);
  const { axis, isLog } = picture();
  const value = (each: number | null | undefined) => (each === null || each === undefined ? "" : formatMetric(each));
  const options: uPlot.Options = {
    width: box.clientWidth,
    height: CHART_PX,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: {
      sync: { key: `metrics-${axis}` },
      drag: { x: true, y: false, setScale: false },
      points: { size: 6, stroke: inks.ink, fill: inks.ink },
      bind: { dblclick: () => () => (does.reset(), null) },
    },
    scales: { x: { time: axis === "time", range: (_, low, high) => rangeOf(picture(), low, high) }, y: { distr: isLog ? 3 : 1 } },
    axes: [
      { ...axisLook(inks), size: 28, space: 88, values: (_, splits) => xLabels(axis, splits) },
      { ...axisLook(inks), size: 60, space: 28, values: (_, splits) => splits.map(value) },
    ],
    series: [
      {},
      { stroke: "transparent", points: { show: false } },
      { stroke: "transparent", points: { show: false } },
      { stroke: inks.ink, width: 1.5, points: { size: 4, fill: inks.ink, stroke: inks.ink } },
    ],
    bands: [{ series: [2, 1], fill: inks.band }],
    hooks: {
      drawClear: [(plot) => shade(plot, picture(), inks)],
      draw: [(plot) => drawMarks(plot, picture(), inks)],
      setSelect: [(plot) => selected(plot, does)],
      setCursor: [({ cursor, posToVal }) => does.point(cursor.idx ?? null, (cursor.left ?? -1) < 0 ? null : posToVal(cursor.left as number, "x"))],
    },
  };
  return new uPlot(options, undefined, box);
}

export function dataOf({ x, min, max, mean }: Columns): uPlot.AlignedData {
  return [x, min, max, mean];
}

function rangeOf({ span }: Picture, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (span !== null) return [span.from, span.to];
  if (low === null || high === null) return [low, high];
  return low === high ? [low - 1, high + 1] : [low, high];
}

function axisLook(inks: Inks): uPlot.Axis {
  return { stroke: inks.quiet, font: inks.font, grid: { stroke: inks.line, width: 1 }, ticks: { stroke: inks.line, width: 1, size: 4 } };
}

const DAY_S = 86_400;

/** Over more than a day the day is said, and no seconds. */
function xLabels(axis: Axis, splits: number[]): string[] {
  if (axis === "step") return splits.map(formatCount);
  const isLong = (splits.at(-1) ?? 0) - (splits[0] ?? 0) > DAY_S;
  return splits.map((x) => (isLong ? formatMoment(x * 1000).slice(5, 16) : formatClock(x * 1000)));
}

function selected(plot: uPlot, does: Doings): void {
  const { left, width } = plot.select;
  if (width < 4) return;
  does.zoom(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

function shade(plot: uPlot, { marks }: Picture, inks: Inks): void {
  const { ctx, bbox } = plot;
  const [low, high] = [plot.scales["x"]?.min ?? 0, plot.scales["x"]?.max ?? 0];
  ctx.save();
  ctx.fillStyle = inks.shade;
  for (const { from, to } of shadesOf(marks, high)) {
    const left = plot.valToPos(Math.max(low, Math.min(high, from)), "x", true);
    const right = plot.valToPos(Math.max(low, Math.min(high, to)), "x", true);
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
}

/** Failures and others differ in how the line is broken, too. */
const DASHES: Record<Mark["kind"], number[]> = { start: [1, 3], failure: [6, 3], membership: [2, 2] };

function drawMarks(plot: uPlot, { marks }: Picture, inks: Inks): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.lineWidth = uPlot.pxRatio;
  for (const { x, kind } of marks) {
    const at = Math.round(plot.valToPos(x, "x", true)) + 0.5;
    if (at < bbox.left || at > bbox.left + bbox.width) continue;
    ctx.strokeStyle = inks.marks[kind];
    ctx.setLineDash(DASHES[kind].map((length) => length * uPlot.pxRatio));
    ctx.beginPath();
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

const NEAR_PX = 6;

/** The mark that the pointer is on. */
export function markAt(plot: uPlot, marks: readonly Mark[], x: number): Mark | null {
  const at = plot.valToPos(x, "x");
  const near = marks.map((mark) => ({ mark, px: Math.abs(plot.valToPos(mark.x, "x") - at) })).filter(({ px }) => px <= NEAR_PX);
  return near.sort((a, b) => a.px - b.px)[0]?.mark ?? null;
}

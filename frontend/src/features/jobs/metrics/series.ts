/** A metric's answer as a chart draws it: one line over all rounds, broken where another round begins. Pure. */
import type { MetricRoundOut, MetricRunOut, SeriesOut } from "@/api";
import { formatClock, formatCount, formatMetric } from "@/lib/format";
import type { Axis } from "./view";

/** One point of the chart with all that is known of it. */
export interface Point {
  /** Seconds since the epoch, or a step. */
  x: number;
  t: number;
  step: number | null;
  min: number;
  mean: number;
  max: number;
  minRank: number | null;
  maxRank: number | null;
  attempt: number;
  round: number;
}

/** When a round began, and why. */
export interface Mark {
  x: number;
  title: string;
  kind: "start" | "failure" | "membership";
  attempt: number;
  round: number;
}

/** Columns of equal length; null where the line is broken. */
export interface Columns {
  x: number[];
  min: (number | null)[];
  mean: (number | null)[];
  max: (number | null)[];
  /** The point of each place; null at a break. */
  points: (Point | null)[];
}

export function pointsOf(series: SeriesOut, axis: Axis): Point[] {
  const points = series.runs.flatMap((run) => pointsOfRun(run, axis));
  return axis === "time" ? points.sort((a, b) => a.x - b.x) : lastDone(points);
}

function pointsOfRun(run: MetricRunOut, axis: Axis): Point[] {
  return run.t.flatMap((t, index) => {
    const step = run.step[index] ?? null;
    const x = axis === "time" ? t : step;
    if (x === null) return [];
    const [min, mean, max] = [run.min[index] ?? NaN, run.mean[index] ?? NaN, run.max[index] ?? NaN];
    const ranks = { minRank: run.min_rank[index] ?? null, maxRank: run.max_rank[index] ?? null };
    return [{ x, t, step, min, mean, max, ...ranks, attempt: run.attempt, round: run.round }];
  });
}

/** Steps that were done again count as they were done last: what a round did beyond where the next began is left out. */
export function lastDone(points: readonly Point[]): Point[] {
  const kept: Point[] = [];
  for (const point of points) {
    while (kept.length > 0 && (kept.at(-1) as Point).x >= point.x) kept.pop();
    kept.push(point);
  }
  return kept;
}

const GAP = 5;

/** Where another round begins, and where reports failed to come for long, nothing is drawn between two points. */
export function columnsOf(points: readonly Point[], isLog: boolean): Columns {
  const columns: Columns = { x: [], min: [], mean: [], max: [], points: [] };
  const usual = usualDistance(points);
  points.forEach((point, index) => {
    const before = points[index - 1];
    if (before !== undefined && isBroken(before, point, usual)) push(columns, (before.x + point.x) / 2, null, isLog);
    push(columns, point.x, point, isLog);
  });
  return columns;
}

function isBroken(before: Point, point: Point, usual: number): boolean {
  return before.attempt !== point.attempt || before.round !== point.round || point.x - before.x > GAP * usual;
}

function usualDistance(points: readonly Point[]): number {
  const apart = points.slice(1).map((point, index) => point.x - (points[index] as Point).x);
  return apart.sort((a, b) => a - b)[Math.floor(apart.length / 2)] ?? Infinity;
}

function push(columns: Columns, x: number, point: Point | null, isLog: boolean): void {
  const drawn = (value: number | undefined) => (value === undefined || (isLog && value <= 0) ? null : value);
  columns.x.push(x);
  columns.points.push(point);
  columns.min.push(drawn(point?.min));
  columns.mean.push(drawn(point?.mean));
  columns.max.push(drawn(point?.max));
}

/** Where rounds began on that axis; on steps a round begins at the first that it reported. */
export function marksOf(rounds: readonly MetricRoundOut[], points: readonly Point[], axis: Axis): Mark[] {
  return rounds.flatMap((round) => {
    const first = points.find((point) => point.attempt === round.attempt && point.round === round.number);
    const x = axis === "time" ? Date.parse(round.at) / 1000 : first?.x;
    if (x === undefined) return [];
    const { attempt, number, restart: kind } = round;
    return [{ x, kind, attempt, round: number, title: titleOf(round) }];
  });
}

export function titleOf({ attempt, number, at, sentence }: MetricRoundOut): string {
  const of = attempt === 1 ? "" : ` of attempt ${attempt}`;
  return `Round ${number}${of} formed at ${formatClock(at)}. ${sentence}`.trim();
}

/** Stretches of every other round, which are shaded lightly. */
export function shadesOf(marks: readonly Mark[], end: number): { from: number; to: number }[] {
  const begins = marks.map((mark) => mark.x).sort((a, b) => a - b);
  return begins.flatMap((from, index) => (index % 2 === 1 ? [{ from, to: begins[index + 1] ?? end }] : []));
}

/** The whole of a chart in a sentence, for who does not see it. */
export function inWords(name: string, points: readonly Point[], marks: readonly Mark[]): string {
  const last = points.at(-1);
  if (last === undefined) return `${name}: nothing is reported in this range`;
  const least = points.reduce((low, point) => Math.min(low, point.min), Infinity);
  const most = points.reduce((high, point) => Math.max(high, point.max), -Infinity);
  const restarts = marks.filter((mark) => mark.kind !== "start").length;
  const began = restarts === 1 ? "1 restart" : `${restarts} restarts`;
  return `${name} between ${formatMetric(least)} and ${formatMetric(most)}, at last ${formatMetric(last.mean)}, over ${began}`;
}

/** What is known of one point, below the chart. */
export function readout(point: Point): string {
  const step = point.step === null ? [] : [`step ${formatCount(point.step)}`];
  const values =
    point.min === point.max
      ? [formatMetric(point.mean)]
      : [
          `min ${formatMetric(point.min)}${ofRank(point.minRank)}`,
          `mean ${formatMetric(point.mean)}`,
          `max ${formatMetric(point.max)}${ofRank(point.maxRank)}`,
        ];
  const round = point.round === 0 ? [] : [`round ${point.round}${point.attempt === 1 ? "" : ` of attempt ${point.attempt}`}`];
  return [formatClock(point.t * 1000), ...step, ...values, ...round].join(" · ");
}

function ofRank(rank: number | null): string {
  return rank === null ? "" : ` (rank ${rank})`;
}

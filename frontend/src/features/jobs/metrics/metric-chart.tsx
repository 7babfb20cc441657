import { Switch, useComputedColorScheme } from "@mantine/core";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import uPlot from "uplot";
import type { MetricRoundOut, SeriesOut } from "@/api";
import { dataOf, makePlot, markAt, type Picture } from "./plot";
import { columnsOf, inWords, marksOf, pointsOf, readout, type Columns } from "./series";
import { spoken, type Axis, type Span } from "./view";
import classes from "./metrics.module.css";

interface Props {
  series: SeriesOut;
  rounds: readonly MetricRoundOut[];
  axis: Axis;
  /** As it stands in the address: milliseconds, or steps. */
  span: Span | null;
  isLog: boolean;
  onLog: (isLog: boolean) => void;
  onSpan: (span: Span | null) => void;
}

/** The mean over ranks as a line, the least and the most as a band around it; restarts are marked. */
export function MetricChart({ series, rounds, axis, span, isLog, onLog, onSpan }: Props) {
  const points = useMemo(() => pointsOf(series, axis), [series, axis]);
  const columns = useMemo(() => columnsOf(points, isLog), [points, isLog]);
  const marks = useMemo(() => marksOf(rounds, points, axis), [rounds, points, axis]);
  const unit = axis === "time" ? 1000 : 1;
  const shown = span === null ? null : { from: span.from / unit, to: span.to / unit };
  const picture: Picture = { axis, isLog, span: shown, marks };
  const [said, setSaid] = useState<string | null>(null);
  const name = spoken(series.name);
  const isPositive = points.some((point) => point.max > 0);
  const { box, plot } = usePlot(picture, columns, {
    zoom: (from, to) => onSpan({ from: from * unit, to: to * unit }),
    say: setSaid,
  }, () => onSpan(null));
  const last = points.at(-1);
  return (
    <section className={classes.chart} aria-label={name}>
      <div className={classes.head}>
        <h3>{name}</h3>
        {isPositive && (
          <Switch size="xs" label="log scale" checked={isLog} onChange={(event) => onLog(event.currentTarget.checked)} />
        )}
      </div>
      <div
        ref={box}
        className={classes.box}
        tabIndex={0}
        role="group"
        aria-roledescription="chart"
        aria-label={`Chart of ${inWords(name, points, marks)}. Arrows go from point to point; the table holds the same.`}
        onKeyDown={(event) => pressed(event, plot.current, columns, shown, unit, onSpan)}
      />
      <p className={`${classes.readout} quiet small`} data-testid="readout" aria-live={said === null ? "off" : "polite"}>
        {said ?? (last === undefined ? "Nothing is reported in this range." : readout(last))}
      </p>
    </section>
  );
}

interface Heard {
  zoom: (from: number, to: number) => void;
  say: (text: string | null) => void;
}

/** The chart lives as long as axis, scale and theme stay the same; data and range change within it. */
function usePlot(picture: Picture, columns: Columns, heard: Heard, reset: () => void) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = useRef({ picture, columns, heard, reset });
  const scheme = useComputedColorScheme();
  const { axis, isLog } = picture;
  useEffect(() => {
    now.current = { picture, columns, heard, reset };
  });
  useEffect(() => {
    if (box.current === null) return;
    const made = makePlot(box.current, () => now.current.picture, {
      zoom: (from, to) => now.current.heard.zoom(from, to),
      reset: () => now.current.reset(),
      point: (index, x) => now.current.heard.say(index === null ? null : saidAt(made, now.current, index, x)),
    });
    plot.current = made;
    const fit = new ResizeObserver(([entry]) => entry && made.setSize({ width: entry.contentRect.width, height: made.height }));
    fit.observe(box.current);
    return () => {
      fit.disconnect();
      made.destroy();
    };
  }, [axis, isLog, scheme]);
  const { span } = picture;
  useEffect(() => {
    plot.current?.setData(dataOf(columns));
  }, [columns, axis, isLog, scheme, span?.from, span?.to, picture.marks]);
  return { box, plot };
}

function saidAt(plot: uPlot, now: { picture: Picture; columns: Columns }, index: number, x: number | null): string | null {
  const mark = x === null ? null : markAt(plot, now.picture.marks, x);
  if (mark !== null) return mark.title;
  const point = now.columns.points[index] ?? now.columns.points[index - 1] ?? null;
  return point === null ? null : readout(point);
}

const FACTOR = 2;

/** Arrows go from point to point, + and − zoom at the middle, Escape shows all. */
function pressed(
  event: KeyboardEvent,
  plot: uPlot | null,
  columns: Columns,
  shown: Span | null,
  unit: number,
  onSpan: (span: Span | null) => void,
): void {
  if (plot === null) return;
  const { min = 0, max = 0 } = plot.scales["x"] ?? {};
  const [low, high] = [min ?? 0, max ?? 0];
  const zoom = (factor: number) => {
    const [middle, half] = [(low + high) / 2, (high - low) / 2 / factor];
    onSpan({ from: (middle - half) * unit, to: (middle + half) * unit });
  };
  switch (event.key) {
    case "ArrowLeft":
    case "ArrowRight":
      step(plot, columns, event.key === "ArrowLeft" ? -1 : 1);
      break;
    case "+":
    case "=":
      zoom(FACTOR);
      break;
    case "-":
      if (shown !== null) zoom(1 / FACTOR);
      break;
    case "Escape":
      onSpan(null);
      break;
    default:
      return;
  }
  event.preventDefault();
}

function step(plot: uPlot, columns: Columns, by: number): void {
  const held = plot.cursor.idx ?? (by < 0 ? columns.x.length : -1);
  let index = held + by;
  while (columns.points[index] === null) index += by;
  const x = columns.x[index];
  if (x !== undefined) plot.setCursor({ left: plot.valToPos(x, "x"), top: plot.over.clientHeight / 2 });
}

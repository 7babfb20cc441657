import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import type { MetricRoundOut, SeriesOut } from "@/api";
import { formatClock, formatCount, formatMetric, formatMoment } from "@/lib/format";
import table from "@/ui/table.module.css";
import { pointsOf, titleOf, type Point } from "./series";
import { spoken } from "./view";
import classes from "./metrics.module.css";

interface Props {
  series: readonly SeriesOut[];
  rounds: readonly MetricRoundOut[];
}

/** The charts in numbers, the newest first: for screen readers, and for copying. */
export function MetricsTable({ series, rounds }: Props) {
  return (
    <>
      {series.map((each) => (
        <OneTable key={each.name} series={each} rounds={rounds} />
      ))}
    </>
  );
}

type Row = Point | MetricRoundOut;

const AT_ONCE = 200;

function OneTable({ series, rounds }: { series: SeriesOut; rounds: readonly MetricRoundOut[] }) {
  const [most, setMost] = useState(AT_ONCE);
  const rows = useMemo(() => rowsOf(pointsOf(series, "time"), rounds), [series, rounds]);
  const name = spoken(series.name);
  return (
    <section className={classes.chart}>
      <h3>{name}</h3>
      <div className={`${table.scroll} ${classes.table}`} tabIndex={0} role="region" aria-label={`${name} as a table`}>
        <table className={table.table}>
          <thead>
            <tr>
              <th>Time</th>
              <th className={table.num}>Round</th>
              <th className={table.num}>Step</th>
              <th className={table.num}>Min</th>
              <th className={table.num}>Mean</th>
              <th className={table.num}>Max</th>
              <th>Ranks</th>
            </tr>
          </thead>
          <tbody>{rows.slice(0, most).map((row) => ("t" in row ? <Values key={`${row.t}`} of={row} /> : <Began key={row.at} of={row} />))}</tbody>
        </table>
        {rows.length > most && (
          <Button size="compact-xs" variant="default" onClick={() => setMost(most + AT_ONCE)}>
            Show {formatCount(Math.min(AT_ONCE, rows.length - most))} older of {formatCount(rows.length)}
          </Button>
        )}
      </div>
    </section>
  );
}

function rowsOf(points: readonly Point[], rounds: readonly MetricRoundOut[]): Row[] {
  const at = (row: Row) => ("t" in row ? row.t : Date.parse(row.at) / 1000);
  return [...points, ...rounds].sort((a, b) => at(b) - at(a));
}

function Values({ of }: { of: Point }) {
  return (
    <tr>
      <td className="mono" title={formatMoment(of.t * 1000)}>
        {formatClock(of.t * 1000, true)}
      </td>
      <td className={table.num}>{of.round === 0 ? "–" : of.round}</td>
      <td className={table.num}>{of.step === null ? "–" : formatCount(of.step)}</td>
      {[of.min, of.mean, of.max].map((value, index) => (
        <td key={index} className={table.num}>
          <data value={value}>{formatMetric(value)}</data>
        </td>
      ))}
      <td>{ranksOf(of)}</td>
    </tr>
  );
}

/** Whose the least and the most are. */
function ranksOf({ minRank, maxRank }: Point): string {
  if (minRank === null || maxRank === null) return "–";
  return minRank === maxRank ? String(minRank) : `${minRank} to ${maxRank}`;
}

function Began({ of }: { of: MetricRoundOut }) {
  return (
    <tr>
      <td colSpan={7} className={classes.began}>
        {titleOf(of)}
      </td>
    </tr>
  );
}

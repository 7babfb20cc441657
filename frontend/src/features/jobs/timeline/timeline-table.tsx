import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { formatClock, formatCount, formatMoment } from "@/lib/format";
import table from "@/ui/table.module.css";
import { LinesLink } from "../logs/lines-link";
import type { Picture } from "./picture";
import { tableRowsOf, type TableRow } from "./table-rows";
import classes from "./timeline.module.css";

interface Props {
  picture: Picture;
  open: ReadonlySet<string>;
  onToggle: (node: string) => void;
}

const AT_ONCE = 500;

/** The timeline in words, in order of time: for screen readers, and for copying. */
export function TimelineTable({ picture, open, onToggle }: Props) {
  const [most, setMost] = useState(AT_ONCE);
  const rows = useMemo(() => tableRowsOf(picture), [picture]);
  const shown = rows.slice(-most);
  return (
    <>
      <RanksOf picture={picture} open={open} onToggle={onToggle} />
      <div className={`${table.scroll} ${classes.table}`} tabIndex={0} role="region" aria-label="Timeline as a table">
        {shown.length < rows.length && (
          <p className={classes.older}>
            The newest {formatCount(shown.length)} of {formatCount(rows.length)} rows.{" "}
            <Button size="compact-xs" variant="default" onClick={() => setMost(most + AT_ONCE)}>
              Show {formatCount(Math.min(AT_ONCE, rows.length - shown.length))} older
            </Button>
          </p>
        )}
        <table className={table.table}>
          <thead>
            <tr>
              <th>Time</th>
              <th>Where</th>
              <th className={table.num}>Round</th>
              <th>What</th>
              <th>Lines</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              <tr key={rows.length - shown.length + index}>
                <td className="mono" title={formatMoment(row.at)}>
                  {formatClock(row.at, true)}
                </td>
                <td className={table.cut} title={row.where}>
                  {row.where}
                </td>
                <td className={table.num}>{row.round ?? "–"}</td>
                <td className={classes.what}>
                  {row.what.map((line) => (
                    <div key={line}>{line}</div>
                  ))}
                </td>
                <td>
                  <RowLines row={row} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function RowLines({ row }: { row: TableRow }) {
  if (row.lines === undefined) return "–";
  return (
    <LinesLink moment={row.lines}>
      Show<span className="visually-hidden"> the lines around {formatClock(row.at, true)}</span>
    </LinesLink>
  );
}

/** Whose ranks are listed too, as in the picture. */
function RanksOf({ picture, open, onToggle }: Props) {
  return (
    <div className={classes.ranksOf} role="group" aria-label="Ranks too, of">
      <span className="quiet small">Ranks too, of</span>
      {picture.rows
        .filter((row) => row.rank === null)
        .map(({ node }) => (
          <Button
            key={node}
            size="compact-xs"
            variant={open.has(node) ? "light" : "default"}
            aria-pressed={open.has(node)}
            onClick={() => onToggle(node)}
          >
            {node}
          </Button>
        ))}
    </div>
  );
}

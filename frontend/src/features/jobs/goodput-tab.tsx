import { useJob, type GoodputOut, type JobOut } from "@/api";
import table from "@/ui/table.module.css";
import { formatHours, formatShare, formatSpent, timeRows, type TimeRow } from "./goodput-words";
import classes from "./goodput-tab.module.css";

/** Where the wall time of the job went, and how much of that somebody asked for. */
export function GoodputTab({ id }: { id: number }) {
  const goodput = useJob(id, goodputOf).data;
  return goodput === undefined ? null : <Goodput goodput={goodput} />;
}

function goodputOf(job: JobOut): GoodputOut {
  return job.goodput;
}

function Goodput({ goodput }: { goodput: GoodputOut }) {
  const rows = timeRows(goodput);
  if (rows.length === 0) return <p className="quiet">Nothing is known yet of where the time went.</p>;
  return (
    <section className="live" aria-label="Goodput">
      {goodput.says !== "" && <p className={classes.says}>{goodput.says}</p>}
      <Bar rows={rows} />
      <div className={table.scroll} tabIndex={0} role="region" aria-label="Where the time went">
        <table className={`${table.table} ${classes.table}`} data-testid="goodput">
          <Head hours={goodput.gpu_hours === null ? "Worker-hours" : "GPU-hours"} />
          <tbody>
            {rows.map((row) => (
              <Row key={row.kind} row={row} />
            ))}
          </tbody>
          <Foot goodput={goodput} rows={rows} />
        </table>
      </div>
    </section>
  );
}

/** The table below tells the same in words. */
function Bar({ rows }: { rows: TimeRow[] }) {
  return (
    <div className={classes.bar} aria-hidden="true">
      {rows.map(({ kind, share, word }) =>
        share === 0 ? null : (
          <i key={kind} data-kind={kind} style={{ flexGrow: share }} title={`${word}: ${formatShare(share)}`} />
        ),
      )}
    </div>
  );
}

function Head({ hours }: { hours: string }) {
  return (
    <thead>
      <tr>
        <th>Went to</th>
        <th className={table.num}>Time</th>
        <th className={table.num}>Share</th>
        <th className={table.num}>Planned</th>
        <th className={table.num}>Unplanned</th>
        <th className={table.num}>{hours}</th>
      </tr>
    </thead>
  );
}

function Row({ row }: { row: TimeRow }) {
  return (
    <tr>
      <th scope="row" title={row.meaning}>
        <i className={classes.swatch} data-kind={row.kind} aria-hidden="true" />
        {row.word}
      </th>
      {row.seconds === null ? <td className={`${table.num} quiet`}>not measured</td> : <Seconds of={row.seconds} />}
      <td className={table.num}>{row.seconds === null ? "–" : formatShare(row.share)}</td>
      <Seconds of={row.planned} />
      <Seconds of={row.unplanned} />
      <td className={table.num}>{row.seconds === null ? "–" : formatHours(row.hours)}</td>
    </tr>
  );
}

function Seconds({ of }: { of: number | null }) {
  return <td className={table.num}>{of === null ? "–" : <data value={of}>{formatSpent(of)}</data>}</td>;
}

function Foot({ goodput, rows }: { goodput: GoodputOut; rows: TimeRow[] }) {
  const sum = (of: (row: TimeRow) => number | null) => rows.reduce((total, row) => total + (of(row) ?? 0), 0);
  return (
    <tfoot>
      <tr>
        <th scope="row">wall time</th>
        <Seconds of={goodput.wall_s} />
        <td className={table.num}>{formatShare(sum((row) => row.share))}</td>
        <Seconds of={sum((row) => row.planned)} />
        <Seconds of={sum((row) => row.unplanned)} />
        <td className={table.num}>{formatHours(goodput.gpu_hours ?? goodput.worker_hours)}</td>
      </tr>
    </tfoot>
  );
}

import type { JobIn } from "@/api";
import table from "@/ui/table.module.css";
import { diffOf } from "./launch-diff";
import classes from "./launch.module.css";

/** While a job is launched again: what differs from it so far. */
export function DifferenceTable({ job, was, is }: { job: number; was: JobIn; is: JobIn }) {
  const differences = diffOf(was, is);
  if (differences.length === 0) return <p className="quiet small">Nothing differs from job {job} so far.</p>;
  return (
    <div className={table.scroll}>
      <table className={`${table.table} ${classes.diff}`} aria-label={`Differences from job ${job}`}>
        <thead>
          <tr>
            <th>Field</th>
            <th>Was in job {job}</th>
            <th>Is now</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ field, was: before, is: after }) => (
            <tr key={field}>
              <td>{field}</td>
              <td className="mono small">{before}</td>
              <td className="mono small">{after}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

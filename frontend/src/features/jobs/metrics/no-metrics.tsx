import type { StandingJob } from "@/api";
import { ENDED } from "@/lib/states";
import { Empty } from "@/ui/empty";
import classes from "./metrics.module.css";

const REPORT = `import regroup_report
regroup_report.step(step, total=steps, loss=loss)`;
const PATTERN = `"log_metrics": ["step (?P<step>\\\\d+)/(?P<total>\\\\d+).*loss (?P<loss>[\\\\d.]+)"]`;

/** Both ways to charts: three words in the script, or none at all. */
export function NoMetrics({ job }: { job: StandingJob }) {
  const isOver = ENDED.has(job.state);
  const reads = (job.spec.log_metrics ?? []).length > 0;
  return (
    <Empty title={isOver ? "This job has reported no metrics." : "This job has reported no metrics yet."}>
      {reads && (
        <p>
          Its log_metrics are looked for in all that its workers write; none has been found{isOver ? "" : " so far"}. The log
          shows what they wrote, and the spec shows what was looked for.
        </p>
      )}
      <p>Charts of step, rate, loss and any other number appear here once a script reports them:</p>
      <pre className={classes.code}>{REPORT}</pre>
      <p>Without a change of the script, named groups of a regular expression are read from what it prints. In the spec:</p>
      <pre className={classes.code}>{PATTERN}</pre>
    </Empty>
  );
}

import type { JobOut } from "@/api";
import { serverNow } from "@/lib/clock";
import { formatAge, formatCount, formatMetric, formatRate, formatRemaining } from "@/lib/format";
import { ENDED, JOB_STATES } from "@/lib/states";
import { StateWord } from "@/ui/state-word";
import { useTick } from "@/ui/use-tick";
import classes from "./headline.module.css";

/** Is it training: the state and how far it is, in the largest type of the page. */
export function Headline({ job }: { job: JobOut }) {
  useTick();
  return (
    <div className={classes.headline} data-testid="headline">
      <StateWord word={job.state} look={JOB_STATES[job.state]} large />
      <span className={classes.facts}>
        {facts(job).map((fact) => (
          <span key={fact} className={classes.fact}>
            {fact}
          </span>
        ))}
      </span>
    </div>
  );
}

function facts(job: JobOut): string[] {
  const found: string[] = [];
  if (job.step !== null) {
    found.push(`step ${formatCount(job.step)}${job.total === null ? "" : ` of ${formatCount(job.total)}`}`);
  }
  for (const [name, value] of Object.entries(job.metrics).slice(0, 3)) found.push(`${name} ${formatMetric(value)}`);
  if (ENDED.has(job.state)) return found;
  if (job.state === "training" && job.steps_per_s !== null && job.steps_per_s > 0) {
    found.push(formatRate(job.steps_per_s));
    if (job.step !== null && job.total !== null) {
      found.push(`${formatRemaining((job.total - job.step) / job.steps_per_s)} left`);
    }
  }
  if (job.state === "running") found.push("no progress reports", lastOutput(job.last_output_at));
  return found;
}

function lastOutput(at: string | null): string {
  if (at === null) return "no output yet";
  const seconds = (serverNow() - Date.parse(at)) / 1000;
  return seconds < 1 ? "last output now" : `last output ${formatAge(seconds)} ago`;
}

import { useJob, type JobOut } from "@/api";
import { serverNow } from "@/lib/clock";
import { formatAge, formatCount, formatMetric, formatRate } from "@/lib/format";
import { ENDED, JOB_STATES } from "@/lib/states";
import { StateWord } from "@/ui/state-word";
import { useTicking } from "@/ui/use-tick";
import { doneOf, limitLeft, timeLeft } from "./time-left";
import classes from "./headline.module.css";

/** Is it training: the state and how far it is, in the largest type of the page. */
export function Headline({ id }: { id: number }) {
  const job = useJob(id).data;
  return job === undefined ? null : <Told job={job} />;
}

function Told({ job }: { job: JobOut }) {
  // One text, so that a second in which none of them changes renders nothing.
  const told = useTicking(() => facts(job).join("\n"));
  return (
    <div className={classes.headline} data-testid="headline">
      <StateWord word={job.state} look={JOB_STATES[job.state]} large />
      <span className={classes.facts}>
        {(told === "" ? [] : told.split("\n")).map((fact) => (
          <span key={fact} className={classes.fact}>
            {fact}
          </span>
        ))}
      </span>
      <Done job={job} />
    </div>
  );
}

/** How much of all steps is done, where the script says how many there are. */
function Done({ job }: { job: JobOut }) {
  const done = doneOf(job);
  if (done === null) return null;
  const share = Math.floor(done * 100);
  return (
    <div
      className={classes.done}
      role="progressbar"
      aria-label="Steps done"
      aria-valuenow={share}
      aria-valuetext={`${share} % of all steps`}
      title={`${share} % of all steps`}
    >
      <i style={{ width: `${done * 100}%` }} />
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
  }
  const left = timeLeft(job);
  if (left !== null) found.push(left);
  const limit = limitLeft(job, serverNow());
  if (limit !== null) found.push(limit);
  if (job.state === "running") found.push("no progress reports", lastOutput(job.last_output_at));
  return found;
}

function lastOutput(at: string | null): string {
  if (at === null) return "no output yet";
  const seconds = (serverNow() - Date.parse(at)) / 1000;
  return seconds < 1 ? "last output now" : `last output ${formatAge(seconds)} ago`;
}

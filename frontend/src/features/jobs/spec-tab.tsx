import type { StandingJob } from "@/api";
import { JobChecks } from "./launch/job-checks";
import { SpecPlacing } from "./spec-placing";
import { SpecTorchrun } from "./spec-torchrun";
import { isDefault } from "./spec-defaults";
import classes from "./spec-tab.module.css";

/** The job as it was launched, in torchrun's words. Secret-looking values are masked by the hub. */
export function SpecTab({ job }: { job: StandingJob }) {
  const text = JSON.stringify(job.spec, null, 2);
  const fields = Object.entries(job.spec);
  const told = fields.filter(([name, value]) => ALWAYS.includes(name) || !isDefault(name, value));
  const usual = fields.filter((field) => !told.includes(field));
  return (
    <div>
      <SpecTorchrun job={job} json={text} />
      <SpecPlacing placing={job.placing} />
      <JobChecks job={job} />
      {list(told)}
      <details className={classes.usual}>
        <summary>{usual.length} fields that were left as they are by default</summary>
        {list(usual)}
      </details>
    </div>
  );
}

/** What says how big the job is and how much it bears. */
const ALWAYS = ["nnodes", "nproc_per_node", "max_restarts"];

function list(fields: [string, unknown][]) {
  return (
    <dl className={classes.spec}>
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="mono small">{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function shown(value: unknown): string {
  if (value === null || value === "") return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.join(" ");
  if (typeof value !== "object") return String(value);
  const pairs = Object.entries(value as Record<string, unknown>);
  return pairs.length === 0 ? "–" : pairs.map(([name, each]) => `${name}=${String(each)}`).join("\n");
}

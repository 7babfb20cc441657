import { Link } from "wouter";
import type { JobSummary } from "@/api";
import launch from "./launch/launch.module.css";
import classes from "./job-labels.module.css";

/** Labels lead to all jobs that have them. */
export function Labels({ labels }: Pick<JobSummary, "labels">) {
  return (
    <>
      {Object.entries(labels).map(([name, value]) => (
        <Link key={name} className={classes.label} href={`/jobs?label=${encodeURIComponent(`${name}:${value}`)}`}>
          {value === "" ? name : `${name}: ${value}`}
        </Link>
      ))}
    </>
  );
}

/** What people wrote to find and to understand the job. */
export function JobLabels({ job }: { job: Pick<JobSummary, "labels"> & { notes: string } }) {
  if (Object.keys(job.labels).length === 0 && job.notes === "") return null;
  return (
    <div className={classes.labels}>
      <Labels labels={job.labels} />
      {job.notes !== "" && <p className={launch.notes}>{job.notes}</p>}
    </div>
  );
}

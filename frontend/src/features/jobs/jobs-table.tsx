import { Link } from "wouter";
import type { JobSummary } from "@/api";
import { formatCount } from "@/lib/format";
import { ENDED, JOB_STATES } from "@/lib/states";
import { Age } from "@/ui/age";
import { StateWord } from "@/ui/state-word";
import table from "@/ui/table.module.css";
import { Labels } from "./job-labels";
import { canStop, type Picking } from "./picked-jobs";
import classes from "./jobs-page.module.css";

interface Props {
  jobs: JobSummary[];
  /** Null: who looks may not stop jobs. */
  picking: Picking | null;
}

export function JobsTable({ jobs, picking }: Props) {
  return (
    <div className={`${table.scroll} live`}>
      <table className={`${table.table} ${classes.table}`}>
        <thead>
          <tr>
            {picking !== null && <PickAll jobs={jobs} picking={picking} />}
            <th className={classes.state}>State</th>
            <th>Name</th>
            <th className={`${table.num} ${classes.step}`}>Step</th>
            <th className={`${table.num} ${classes.size}`}>World size</th>
            <th className={`${table.num} ${classes.wide}`}>Nodes</th>
            <th className={`${table.num} ${classes.wide}`}>Round</th>
            <th className={`${table.num} ${classes.wide}`}>Failure restarts</th>
            <th className={`${table.num} ${classes.wide}`}>Membership restarts</th>
            <th className={classes.wide}>Launched by</th>
            <th className={`${table.num} ${classes.wide} ${classes.age}`}>In this state for</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <JobRow key={job.id} job={job} picking={picking} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PickAll({ jobs, picking }: { jobs: JobSummary[]; picking: Picking }) {
  const ids = jobs.filter(canStop).map(({ id }) => id);
  const isAll = ids.length > 0 && ids.every((id) => picking.picked.has(id));
  return (
    <th className={classes.pick}>
      <input
        type="checkbox"
        aria-label="Pick all jobs that can be stopped"
        checked={isAll}
        disabled={ids.length === 0}
        onChange={() => picking.pick(ids, !isAll)}
      />
    </th>
  );
}

function Pick({ job, picking }: { job: JobSummary; picking: Picking }) {
  return (
    <td className={classes.pick}>
      <input
        type="checkbox"
        aria-label={`Pick ${job.name} ${job.id}`}
        checked={canStop(job) && picking.picked.has(job.id)}
        disabled={!canStop(job)}
        onChange={(event) => picking.pick([job.id], event.currentTarget.checked)}
      />
    </td>
  );
}

function JobRow({ job, picking }: { job: JobSummary; picking: Picking | null }) {
  return (
    <tr title={job.state_reason} data-job={job.id}>
      {picking !== null && <Pick job={job} picking={picking} />}
      <td>
        <StateWord word={job.state} look={JOB_STATES[job.state]} />
      </td>
      <td className={`${table.cut} ${classes.name}`}>
        <Link href={`/jobs/${job.id}`}>
          {job.name} <span className="quiet">{job.id}</span>
        </Link>{" "}
        <span className={classes.labels}>
          <Labels labels={job.labels} />
        </span>
      </td>
      <td className={table.num}>{job.step === null ? "–" : formatCount(job.step)}</td>
      <td className={table.num}>{worldText(job)}</td>
      <td className={`${table.num} ${classes.wide}`}>{nodesText(job)}</td>
      <td className={`${table.num} ${classes.wide}`}>{job.round ?? "–"}</td>
      <td className={`${table.num} ${classes.wide}`}>
        {job.restarts.failure} of {job.restarts.max_restarts}
      </td>
      <td className={`${table.num} ${classes.wide}`}>{job.restarts.membership}</td>
      <td className={`${table.cut} ${classes.wide}`}>{job.created_by}</td>
      <td className={`${table.num} ${classes.wide}`}>
        <Age at={job.state_since} />
      </td>
    </tr>
  );
}

function worldText(job: JobSummary): string {
  if (job.round === null) return "–";
  return ENDED.has(job.state) ? `${job.world_size}` : `${job.workers_alive} of ${job.world_size}`;
}

function nodesText({ nodes, round }: JobSummary): string {
  const range = nodes.min === nodes.max ? `${nodes.min}` : `${nodes.min}–${nodes.max}`;
  return round === null ? range : `${nodes.formed} of ${range}`;
}

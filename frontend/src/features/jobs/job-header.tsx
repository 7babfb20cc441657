import { Button } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { useMayOperate, type JobOut } from "@/api";
import { formatMoment } from "@/lib/format";
import { ENDED } from "@/lib/states";
import { StopDialog } from "./stop-dialog";
import classes from "./job-header.module.css";

export function JobHeader({ job }: { job: JobOut }) {
  const mayOperate = useMayOperate();
  const [isStopping, setStopping] = useState(false);
  return (
    <div className={classes.header}>
      <nav aria-label="Place" className={classes.place}>
        <Link href="/jobs">Jobs</Link> <span aria-hidden="true">/</span> <h1>{job.name}</h1>
      </nav>
      <span className={classes.who}>
        job {job.id}
        {job.attempt !== null && `, attempt ${job.attempt}`}, launched by {job.created_by} {formatMoment(job.created_at)}
      </span>
      <div className={classes.acts}>
        {!ENDED.has(job.state) &&
          (mayOperate ? (
            <Button size="xs" variant="default" disabled={job.state === "stopping"} onClick={() => setStopping(true)}>
              {job.state === "stopping" ? "Stopping" : "Stop"}
            </Button>
          ) : (
            <span className="quiet small">Viewers may look; Stop and Kill need the role operator.</span>
          ))}
      </div>
      {isStopping && <StopDialog job={job} onClose={() => setStopping(false)} />}
    </div>
  );
}

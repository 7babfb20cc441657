import { Button } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { useMayOperate, type StandingJob } from "@/api";
import { formatMoment } from "@/lib/format";
import { ENDED } from "@/lib/states";
import { useActs, type Act } from "@/ui/acts";
import { AgainActs } from "./again-acts";
import { attemptText } from "./attempt-words";
import { ForceDialog } from "./force-dialog";
import { StopDialog } from "./stop-dialog";
import { canForce } from "./stop-ladder";
import { StopProgress } from "./stop-progress";
import classes from "./job-header.module.css";

export function JobHeader({ job }: { job: StandingJob }) {
  return (
    <div className={classes.header}>
      <nav aria-label="Place" className={classes.place}>
        <Link href="/jobs">Jobs</Link> <span aria-hidden="true">/</span> <h1>{job.name}</h1>
      </nav>
      <span className={classes.who}>
        job {job.id}, {attemptText(job)}, launched by {job.created_by} {formatMoment(job.created_at)}
      </span>
      <div className={classes.acts}>
        {job.state === "stopping" && <StopProgress job={job} />}
        <Acts job={job} />
      </div>
    </div>
  );
}

function Acts({ job }: { job: StandingJob }) {
  const mayOperate = useMayOperate();
  const [asking, setAsking] = useState<"stop" | "force" | null>(null);
  const close = () => setAsking(null);
  const isOver = ENDED.has(job.state);
  useActs(() => (mayOperate ? stopActs(job, setAsking) : []));
  if (!mayOperate && isOver) return null;
  if (!mayOperate) return <span className="quiet small">Viewers may look; Scale, Stop and Kill need the role operator.</span>;
  return (
    <>
      {!isOver && job.state !== "stopping" && (
        <Button size="xs" variant="default" onClick={() => setAsking("stop")}>
          Stop
        </Button>
      )}
      {canForce(job) && (
        <Button size="xs" variant="default" onClick={() => setAsking("force")}>
          Stop now
        </Button>
      )}
      <AgainActs job={job} />
      {asking === "stop" && <StopDialog job={job} onClose={close} onForce={() => setAsking("force")} />}
      {asking === "force" && <ForceDialog job={job} onClose={close} />}
    </>
  );
}

function stopActs(job: StandingJob, ask: (which: "stop" | "force") => void): Act[] {
  if (canForce(job)) return [{ id: "force", says: `Stop ${job.name} now`, isDanger: true, run: () => ask("force") }];
  if (ENDED.has(job.state) || job.state === "stopping") return [];
  return [{ id: "stop", says: `Stop ${job.name}`, isDanger: true, run: () => ask("stop") }];
}

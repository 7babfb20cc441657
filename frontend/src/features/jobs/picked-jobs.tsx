import { Button } from "@mantine/core";
import { useState } from "react";
import type { JobSummary } from "@/api";
import { plural } from "@/lib/format";
import { ENDED } from "@/lib/states";
import { StopManyDialog } from "./stop-many-dialog";
import classes from "./jobs-page.module.css";

export interface Picking {
  picked: ReadonlySet<number>;
  pick: (ids: number[], on: boolean) => void;
}

export function usePicking(): Picking {
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set());
  const pick = (ids: number[], on: boolean) =>
    setPicked((held) => new Set(on ? [...held, ...ids] : [...held].filter((id) => !ids.includes(id))));
  return { picked, pick };
}

export function canStop(job: JobSummary): boolean {
  return !ENDED.has(job.state) && job.state !== "stopping";
}

/** What can be done with the jobs that were picked. Those that have ended meanwhile are no longer counted. */
export function PickedJobs({ jobs, picking }: { jobs: JobSummary[]; picking: Picking }) {
  const [asked, setAsked] = useState<number[] | null>(null);
  const ready = jobs.filter((job) => picking.picked.has(job.id) && canStop(job));
  const close = () => {
    picking.pick([...picking.picked], false);
    setAsked(null);
  };
  return (
    <div className={classes.picked} role="group" aria-label="Picked jobs">
      <span className="small quiet">{ready.length === 0 ? "Pick jobs to stop several at once." : `${plural(ready.length, "job")} picked`}</span>
      <Button size="compact-xs" variant="default" disabled={ready.length === 0} onClick={() => setAsked(ready.map(({ id }) => id))}>
        Stop …
      </Button>
      {asked !== null && <StopManyDialog jobs={jobs.filter(({ id }) => asked.includes(id))} onClose={close} />}
    </div>
  );
}

import { useStop, type StandingJob } from "@/api";
import { plural } from "@/lib/format";
import { ActDialog } from "@/ui/act-dialog";
import { Notice } from "@/ui/notice";

/** The last rung of a stop: SIGKILL without waiting for the grace. */
export function ForceDialog({ job, onClose }: { job: StandingJob; onClose: () => void }) {
  const stop = useStop(job.id);
  return (
    <ActDialog
      act={`Stop ${job.name} now`}
      isDanger
      forecast={<div>{forecast(job)}</div>}
      asked={stop}
      onAct={(reason) => stop.mutate({ reason, force: true })}
      tried={`${job.name} was to be stopped now.`}
      onClose={onClose}
    >
      <Notice tone="grey">
        Asked to end at once. The job is now {job.state}. {job.state_reason}
      </Notice>
    </ActDialog>
  );
}

function forecast(job: StandingJob): string {
  const left = job.workers_alive > 0 ? `${plural(job.workers_alive, "worker")} that still ${job.workers_alive === 1 ? "runs" : "run"}` : "whatever still runs of it";
  return `Sends SIGKILL to ${left}, without waiting for the grace of ${job.spec.shutdown_timeout} s. A checkpoint that is being written now is lost.`;
}

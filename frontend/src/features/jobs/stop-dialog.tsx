import { Button } from "@mantine/core";
import { useStop, type StandingJob } from "@/api";
import { plural } from "@/lib/format";
import { ActDialog } from "@/ui/act-dialog";
import { Notice } from "@/ui/notice";
import { canForce } from "./stop-ladder";
import { StopProgress } from "./stop-progress";

interface Props {
  job: StandingJob;
  onClose: () => void;
  /** The person does not want to wait for the grace. */
  onForce: () => void;
}

/** Asks once before a job is stopped, says what will stop, and follows it until it has. */
export function StopDialog({ job, onClose, onForce }: Props) {
  const stop = useStop(job.id);
  return (
    <ActDialog
      act={`Stop ${job.name}`}
      isDanger
      forecast={<div>{forecast(job)}</div>}
      asked={stop}
      onAct={(reason) => stop.mutate({ reason, force: false })}
      tried={`${job.name} was to be stopped.`}
      onClose={onClose}
      further={
        canForce(job) && (
          <Button variant="default" onClick={onForce}>
            Stop now
          </Button>
        )
      }
    >
      <Notice tone="grey">
        Asked to stop. The job is now {job.state}. {job.state === "stopping" && <StopProgress job={job} />}{" "}
        {job.state_reason}
      </Notice>
    </ActDialog>
  );
}

function forecast(job: StandingJob): string {
  if (job.members.length === 0) return "The job has not been placed on any node: it will not start.";
  return (
    `Ends ${plural(job.workers_alive, "worker")} on ${plural(job.members.length, "node")}: SIGTERM first, ` +
    `SIGKILL after ${job.spec.shutdown_timeout} s to what still runs. Steps since the last checkpoint are lost. ` +
    `A stopped job does not start again.`
  );
}

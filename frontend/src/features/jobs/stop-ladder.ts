/** How far a stop has come: SIGTERM, the grace, SIGKILL. */
import type { JobOut } from "@/api";

type Stopping = Pick<JobOut, "stop_deadline" | "stop_forced">;

/** A sentence for a job that is stopping; empty while nothing has been sent to any node. */
export function ladderText({ stop_deadline: deadline, stop_forced: isForced }: Stopping, nowMs: number): string {
  if (deadline === null) return "";
  if (isForced) return "SIGKILL without waiting for the grace.";
  const left = Math.ceil((Date.parse(deadline) - nowMs) / 1000);
  return left > 0 ? `SIGTERM sent; SIGKILL in ${left} s.` : "The grace is over; SIGKILL ends what still runs.";
}

/** Whether somebody asked for the stop and may still ask to skip the grace. */
export function canForce(job: Pick<JobOut, "state" | "stopped_by" | "stop_forced">): boolean {
  return job.state === "stopping" && job.stopped_by !== null && !job.stop_forced;
}

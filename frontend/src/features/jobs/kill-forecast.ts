import type { JobOut, WorkerOut } from "@/api";
import { plural } from "@/lib/format";

/** What a kill will do, before it is done: whole sentences. */
export function forecastKill(job: JobOut, worker: WorkerOut): string[] {
  const { restarts } = job;
  const left = restarts.by_node[worker.node]?.remaining ?? restarts.max_restarts;
  const signal = `Sends SIGKILL to rank ${worker.rank} (pid ${worker.pid} on ${worker.node}, round ${worker.round}).`;
  if (left <= 0) {
    return [signal, `${worker.node} has no failure restart left of ${restarts.max_restarts}: the job will fail.`];
  }
  const others = job.members.length > 1 ? ` and the other ${plural(job.members.length - 1, "node")} form a new round with it` : "";
  return [
    signal,
    `${worker.node} starts all its workers again${others}: round ${worker.round + 1}, world size stays ${job.world_size}.`,
    `Spends one failure restart of ${worker.node}: ${left} of ${restarts.max_restarts} left now, ${left - 1} afterwards.`,
    resumeSentence(job),
  ];
}

function resumeSentence(job: JobOut): string {
  if (job.checkpoint_step === null) return "No checkpoint has been reported: training may begin again from step 0.";
  return `The newest reported checkpoint is of step ${job.checkpoint_step}.`;
}

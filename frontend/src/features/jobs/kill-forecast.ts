import type { JobOut, WorkerOut } from "@/api";

/** What a kill will do, before it is done: whole sentences. */
export function forecastKill(job: JobOut, worker: WorkerOut): string[] {
  const { restarts } = job;
  const left = restarts.by_node[worker.node]?.remaining ?? restarts.max_restarts;
  const signal = `Sends SIGKILL to rank ${worker.rank} (pid ${worker.pid} on ${worker.node}, round ${worker.round}).`;
  if (left <= 0) {
    return [signal, `${worker.node} has no failure restart left of ${restarts.max_restarts}: the job will fail.`];
  }
  return [
    signal,
    `${worker.node} starts all its workers again${withOthers(job.members.length - 1)}: round ${worker.round + 1}, world size stays ${job.world_size}.`,
    `Spends one failure restart of ${worker.node}: ${left} of ${restarts.max_restarts} left now, ${left - 1} afterwards.`,
    resumeSentence(job),
  ];
}

function withOthers(count: number): string {
  if (count < 1) return "";
  return count === 1 ? " and the other node forms a new round with it" : ` and the other ${count} nodes form a new round with it`;
}

function resumeSentence(job: JobOut): string {
  if (job.checkpoint_step === null) return "No checkpoint has been reported: training may begin again from step 0.";
  return `The newest reported checkpoint is of step ${job.checkpoint_step}.`;
}

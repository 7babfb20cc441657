/** Made-up workers for the tests of the grid. */
import type { WorkerOut, WorkerUsageOut } from "@/api";

export const NOW = Date.parse("2026-11-30T12:00:00Z");

export function worker(rank: number, told: Partial<WorkerOut> = {}): WorkerOut {
  return {
    rank,
    node: `node-${Math.floor(rank / 8)}`,
    local_rank: rank % 8,
    pid: 1000 + rank,
    start_time: 1,
    round: 3,
    state: "running",
    said: "",
    kill: null,
    step: 100,
    total: null,
    progress_at: "2026-11-30T11:59:50Z",
    metrics: {},
    ...told,
  };
}

export function uses(rank: number, told: Partial<WorkerUsageOut> = {}): WorkerUsageOut {
  return {
    rank,
    pid: 1000 + rank,
    state: "R",
    cpu: 1,
    memory_bytes: 1024 ** 3,
    gpu: null,
    gpu_index: null,
    gpu_memory_bytes: null,
    progress_s: null,
    age_s: 0,
    ...told,
  };
}

export function workers(count: number): WorkerOut[] {
  return Array.from({ length: count }, (_, rank) => worker(rank));
}

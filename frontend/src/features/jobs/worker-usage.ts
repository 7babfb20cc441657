/** What a worker uses, as its row shows it, and what the state of its process means. Pure. */
import type { WorkerOut, WorkerUsageOut } from "@/api";
import { formatBytes } from "@/lib/format";
import { WORKER_STATES, WORKER_WORDS, type Look } from "@/lib/states";

export type UsageByRank = ReadonlyMap<number, WorkerUsageOut>;

/** By rank, of those very processes that the page knows. */
export function byRank(workers: readonly WorkerOut[], told: readonly WorkerUsageOut[]): UsageByRank {
  const pids = new Map(workers.map(({ rank, pid }) => [rank, pid]));
  return new Map(told.filter(({ rank, pid }) => pids.get(rank) === pid).map((usage) => [usage.rank, usage]));
}

interface Standing {
  word: string;
  look: Look;
}

const OF_THE_KERNEL: Record<string, Standing> = {
  T: { word: "stopped (T)", look: { shape: "half-left", tone: "amber", meaning: "Its process is stopped, as by SIGSTOP." } },
  t: { word: "traced (t)", look: { shape: "half-left", tone: "amber", meaning: "A debugger has stopped its process." } },
  D: {
    word: "waits (D)",
    look: { shape: "half-left", tone: "amber", meaning: "It sleeps where no signal reaches it, as on a disk that does not answer." },
  },
  Z: { word: "zombie (Z)", look: { shape: "cross", tone: "red", meaning: "Its process has ended, and nobody has taken notice." } },
};

/** Where the worker stands; of one that runs, what the kernel says of its process where that matters. */
export function standingOf({ state }: Pick<WorkerOut, "state">, usage: WorkerUsageOut | undefined): Standing {
  const ofTheKernel = state === "running" && usage !== undefined ? OF_THE_KERNEL[usage.state] : undefined;
  return ofTheKernel ?? { word: WORKER_WORDS[state], look: WORKER_STATES[state] };
}

/** Its process is stopped, traced, dead or out of reach, as the kernel says. */
export function standsStill(usage: WorkerUsageOut | undefined): boolean {
  return usage !== undefined && usage.state in OF_THE_KERNEL;
}

export const UNKNOWN = "–";

/** In per cent of one core: "97 %", "412 %". */
export function formatCpu(cores: number | null | undefined): string {
  return cores === null || cores === undefined ? UNKNOWN : `${Math.round(cores * 100)} %`;
}

export function formatMemory(bytes: number | null | undefined): string {
  return bytes === null || bytes === undefined ? UNKNOWN : formatBytes(bytes);
}

/** How busy its GPU is, and how full: "97 % · 61 GiB". */
export function formatGpu(usage: WorkerUsageOut | undefined): string {
  if (usage?.gpu === null || usage?.gpu === undefined) return UNKNOWN;
  return `${Math.round(usage.gpu * 100)} % · ${formatMemory(usage.gpu_memory_bytes)}`;
}

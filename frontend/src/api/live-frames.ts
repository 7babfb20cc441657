/** Frames of the live socket, and how a change turns what is held into what is so now. Pure. */
import type { JobOut, JobPage, JobSummary, NodeOut, NodePage, WorkerOut } from "./types";

export interface SnapshotFrame {
  type: "snapshot";
  topic: string;
  n: number;
  version?: number;
  data: unknown;
}

export interface ChangeFrame {
  type: "change";
  topic: string;
  n: number;
  version?: number;
  /** Of `job:<id>`. */
  set?: Partial<JobOut>;
  workers?: WorkerOut[];
  /** Of `jobs` and `nodes`. */
  items?: (JobSummary | NodeOut)[];
  /** Ranks, ids or names that are no longer there. */
  gone?: (number | string)[];
}

export type Frame =
  | SnapshotFrame
  | ChangeFrame
  | { type: "hello"; server_time: string; redis: boolean; build?: string | null }
  | { type: "pulse"; server_time: string; redis: boolean; ingest_age_s?: number | null; problem?: string | null }
  | { type: "refused"; topic: string; what: string; reason: string };

/** The job after a change. What is older than what is held changes nothing. */
export function changeJob(held: JobOut, frame: ChangeFrame): JobOut {
  if (frame.version !== undefined && frame.version < held.version) return held;
  const gone = new Set(frame.gone ?? []);
  const changed = new Map((frame.workers ?? []).map((worker) => [worker.rank, worker]));
  const kept = held.workers.filter((worker) => !gone.has(worker.rank) && !changed.has(worker.rank));
  const base = frame.set?.workers ?? [...kept, ...changed.values()];
  const workers = [...base].sort((a, b) => a.rank - b.rank);
  return { ...held, ...frame.set, workers, version: frame.version ?? held.version };
}

/** Of two answers about one job, the one that is not older. */
export function newerJob<T extends { version: number }>(held: T | undefined, got: T): T {
  return held !== undefined && held.version > got.version ? held : got;
}

/** A page of the list after a change; `isFirst` pages take in jobs that are new. */
export function changeJobPage(page: JobPage, items: JobSummary[], isFirst: boolean): JobPage {
  const changed = new Map(items.map((job) => [job.id, job]));
  const kept = page.items.map((job) => {
    const got = changed.get(job.id);
    changed.delete(job.id);
    return got === undefined ? job : newerJob(job, got);
  });
  const newest = page.items[0]?.id ?? 0;
  const fresh = isFirst ? [...changed.values()].filter((job) => job.id > newest) : [];
  return { ...page, items: [...fresh.sort((a, b) => b.id - a.id), ...kept] };
}

export function changeNodes(page: NodePage, items: NodeOut[], gone: ReadonlySet<unknown>): NodePage {
  const nodes = new Map(page.items.filter((node) => !gone.has(node.name)).map((node) => [node.name, node]));
  for (const node of items) nodes.set(node.name, node);
  return { ...page, items: [...nodes.values()].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true })) };
}

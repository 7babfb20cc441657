/** Writes live frames into the query cache, the only place where this page keeps what the hub said. */
import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import {
  changeJob,
  changeJobPage,
  changeNodes,
  newerJob,
  type ChangeFrame,
  type SnapshotFrame,
} from "./live-frames";
import type { Sink } from "./live";
import { keys, type JobFilters } from "./keys";
import type { JobOut, JobPage, JobSummary, NodeOut, NodePage } from "./types";

type JobPages = InfiniteData<JobPage, string | null>;

export function cacheSink(cache: QueryClient): Sink {
  return {
    snapshot: (frame) => snapshot(cache, frame),
    change: (frame) => change(cache, frame),
  };
}

/** After a loss: what no topic brings is asked for again, and a question that hangs since is given up. */
export function askAllAgain(cache: QueryClient): void {
  void cache.invalidateQueries({ predicate: ({ queryKey }) => !isBroughtByTopic(queryKey) });
}

function isBroughtByTopic(queryKey: readonly unknown[]): boolean {
  return queryKey[0] === keys.nodes[0] || (queryKey[0] === "jobs" && queryKey[1] === "one");
}

function snapshot(cache: QueryClient, frame: SnapshotFrame): void {
  if (frame.topic === "jobs") {
    changeJobs(cache, (frame.data as JobPage).items, []);
    // Jobs may have come and gone unseen while nobody listened.
    void cache.invalidateQueries({ queryKey: keys.jobLists });
  } else if (frame.topic === "nodes") {
    cache.setQueryData<NodePage>(keys.nodes, frame.data as NodePage);
  } else {
    const got = frame.data as JobOut;
    cache.setQueryData<JobOut>(keys.job(got.id), (held) => newerJob(held, got));
  }
}

function change(cache: QueryClient, frame: ChangeFrame): void {
  if (frame.topic === "jobs") {
    changeJobs(cache, (frame.items ?? []) as JobSummary[], frame.gone ?? []);
  } else if (frame.topic === "nodes") {
    const items = (frame.items ?? []) as NodeOut[];
    cache.setQueryData<NodePage>(keys.nodes, (held) => held && changeNodes(held, items, new Set(frame.gone ?? [])));
  } else {
    const id = Number(frame.topic.slice("job:".length));
    cache.setQueryData<JobOut>(keys.job(id), (held) => held && changeJob(held, frame));
  }
}

function changeJobs(cache: QueryClient, items: JobSummary[], gone: (number | string)[]): void {
  for (const query of cache.getQueryCache().findAll({ queryKey: keys.jobLists })) {
    const filters = query.queryKey.at(-1) as JobFilters;
    const isFiltered = filters.state !== "" || filters.q !== "" || filters.label !== "" || filters.archived;
    cache.setQueryData<JobPages>(query.queryKey, (held) => held && changePages(held, items, !isFiltered));
    // What is gone from the hub's first page may still belong to a later one here.
    if ((isFiltered && items.length > 0) || gone.length > 0) askAgain(cache, query.queryKey);
  }
}

function changePages(held: JobPages, items: JobSummary[], takesNew: boolean): JobPages {
  const pages = held.pages.map((page, index) => changeJobPage(page, items, takesNew && index === 0));
  return { ...held, pages };
}

const asking = new Set<string>();

/** What is on a list is the hub's to say: ask for it again, at most every two seconds. */
function askAgain(cache: QueryClient, queryKey: readonly unknown[]): void {
  const name = JSON.stringify(queryKey);
  if (asking.has(name)) return;
  asking.add(name);
  setTimeout(() => {
    asking.delete(name);
    void cache.invalidateQueries({ queryKey });
  }, 2000);
}

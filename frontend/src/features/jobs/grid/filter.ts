/** Which workers are behind, stand still or have failed, by what is known of them. Pure. */
import type { JobOut, WorkerOut } from "@/api";
import { never } from "@/lib/never";
import { standsStill, type UsageByRank } from "../worker-usage";
import { FILTER_WORDS, type Filter } from "./view";

/** Ranks report one after the other, so that one step between them says nothing. */
const BEHIND_STEPS = 2;

export interface Known {
  fastest: number;
  usage: UsageByRank;
  /** Of the job: who is named as holding the others up. */
  stall: JobOut["stall"];
}

export function onlyThose<T extends WorkerOut>(workers: T[], filter: Filter, known: Known): T[] {
  return filter === "all" ? workers : workers.filter((worker) => isOne(worker, filter, known));
}

function isOne(worker: WorkerOut, filter: Exclude<Filter, "all">, { fastest, usage, stall }: Known): boolean {
  switch (filter) {
    case "behind":
      return worker.state === "running" && worker.step !== null && fastest - worker.step >= BEHIND_STEPS;
    case "stalled":
      return worker.state === "running" && (standsStill(usage.get(worker.rank)) || isNamed(worker, stall));
    case "failed":
      return worker.state === "cause" || worker.state === "peer_lost";
    default:
      return never(filter);
  }
}

function isNamed({ rank, round }: WorkerOut, stall: JobOut["stall"]): boolean {
  return stall !== null && stall.ended_at === null && stall.round === round && stall.rank === rank;
}

const NOBODY: Record<Exclude<Filter, "all">, string> = {
  behind: `No worker is known to be ${BEHIND_STEPS} steps or more behind the fastest.`,
  stalled: "No worker's process is known to stand still, and none is named as holding up the others.",
  failed: "No worker of this round has failed or lost a peer.",
};

/** Why none is shown. */
export function nobody(filter: Filter, isSearched: boolean): string {
  if (filter === "all") return "No worker has this rank, pid, node or state.";
  return isSearched ? `None of the workers that the search finds is shown: ${FILTER_WORDS[filter]} are.` : NOBODY[filter];
}

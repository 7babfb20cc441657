/** Kinds of faults in words, and what is asked of the hub for them. Pure. */
import type { FaultIn, WorkerOut } from "@/api";
import { plural } from "@/lib/format";
import { listed } from "@/lib/phrases";

export type FaultKind = FaultIn["kind"];

/** Whom it is done to, as the person saw them: what has been replaced since is not hit. */
export type Target = { workers: WorkerOut[] } | { node: string };

/** What a person fills in. Numbers are text while they are typed. */
export interface Draft {
  kind: FaultKind;
  signal: string;
  seconds: string;
  share: string;
}

export const WORKER_KINDS: FaultKind[] = ["kill_worker", "freeze_worker", "slow_worker"];
export const NODE_KINDS: FaultKind[] = ["kill_runner", "kill_agent", "cut_node"];

export const KIND_WORDS: Record<FaultKind, string> = {
  kill_worker: "Kill by a signal",
  freeze_worker: "Freeze for a while",
  slow_worker: "Slow down for a while",
  kill_runner: "Kill its runner",
  kill_agent: "Kill its node agent",
  cut_node: "Cut it off from the hub for a while",
};

export const SIGNALS = ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT", "SIGINT"];

export function draftOf(kind: FaultKind): Draft {
  return { kind, signal: "SIGKILL", seconds: "30", share: "25" };
}

export function lasts(kind: FaultKind): boolean {
  return kind === "freeze_worker" || kind === "slow_worker" || kind === "cut_node";
}

/** What the button does, such as "Freeze ranks 1 and 3". */
export function actOf(kind: FaultKind, target: Target): string {
  const whom = "node" in target ? target.node : ranksIn(target.workers);
  switch (kind) {
    case "kill_worker":
      return `Kill ${whom}`;
    case "freeze_worker":
      return `Freeze ${whom}`;
    case "slow_worker":
      return `Slow ${whom}`;
    case "kill_runner":
      return `Kill the runner on ${whom}`;
    case "kill_agent":
      return `Kill the node agent on ${whom}`;
    case "cut_node":
      return `Cut ${whom} off`;
  }
}

const MOST_NAMED = 6;

function ranksIn(workers: WorkerOut[]): string {
  if (workers.length > MOST_NAMED) return plural(workers.length, "worker");
  const ranks = workers.map(({ rank }) => String(rank));
  return `${ranks.length === 1 ? "rank" : "ranks"} ${listed(ranks)}`;
}

/** Nonsense is sent as it is, for the hub to refuse in words. */
export function bodyOf(draft: Draft, target: Target, attempt: string | null, reason = ""): FaultIn {
  const { kind, signal, seconds, share } = draft;
  const asked = { kind, signal, seconds: Number(seconds), share: Number(share) / 100, reason, dry_run: false };
  if ("node" in target) return { ...asked, node: target.node, if: { attempt } };
  const seen = target.workers.map(({ rank, round, pid }) => ({ rank, round, pid, attempt }));
  return { ...asked, ranks: target.workers.map(({ rank }) => rank), if: seen };
}

/** Why a round began, in words: what kind of cause it was, what says so, and what ended with it. */
import type { CauseOut, ConsequenceOut } from "@/api";
import { listed } from "@/lib/phrases";

export const CAUSES: Record<CauseOut["kind"], string> = {
  exception: "an exception in the script",
  exit_code: "an exit code of the script's own",
  signal: "a signal",
  out_of_memory: "out of memory",
  fork_server: "the end of the fork server",
  unkillable: "a worker that cannot be ended",
  peer_lost: "a lost connection whose other side is not known",
  unknown: "not known",
  node_joined: "a node joined",
  node_left: "a node left",
  node_lost: "a node was lost",
  runner_died: "a runner died",
  formed_anew: "the same nodes formed anew",
};

const ENDED: Record<ConsequenceOut["kind"], string> = {
  peer_lost: "lost the connection to another worker",
  stopped: "stopped by the runner",
  finished: "ended with 0",
  unknown: "ended, how is not known",
  exception: "failed too, by an exception",
  exit_code: "failed too, with an exit code",
  signal: "ended by a signal too",
  out_of_memory: "out of memory too",
  fork_server: "ended with the fork server",
  unkillable: "cannot be ended",
};

/** "3 ranks lost the connection to another worker: 0, 1 and 4." for each kind, the commonest first. */
export function consequenceLines(consequences: readonly ConsequenceOut[]): string[] {
  const ranks = new Map<ConsequenceOut["kind"], number[]>();
  for (const { kind, rank } of consequences) ranks.set(kind, [...(ranks.get(kind) ?? []), rank]);
  return [...ranks]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([kind, those]) => `${those.length} ${those.length === 1 ? "rank" : "ranks"} ${ENDED[kind]}: ${ranges(those)}.`);
}

/** "0 to 3, 5 and 9": so that a thousand ranks stay one line. */
export function ranges(ranks: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const rank of [...ranks].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && rank === last[1] + 1) last[1] = rank;
    else runs.push([rank, rank]);
  }
  return listed(runs.flatMap(([from, to]) => (to - from < 2 ? span(from, to) : [`${from} to ${to}`])));
}

function span(from: number, to: number): string[] {
  return from === to ? [String(from)] : [String(from), String(to)];
}

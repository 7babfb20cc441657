/** Faults on their way, step by step, each reached only when there is evidence of it. Pure. */
import type { FaultOut, RoundOut } from "@/api";
import { plural } from "@/lib/format";
import { listed } from "@/lib/phrases";
import type { Step } from "@/ui/steps";
import { lasts } from "./fault-words";

/** All of them were asked for together, and are of one kind. */
export function faultSteps(faults: FaultOut[], pids: ReadonlyMap<number, number>, rounds: RoundOut[]): Step[] {
  const [first] = faults;
  if (first === undefined) return [];
  const nodes = listed([...new Set(faults.map(({ node }) => node))].sort());
  const sent: Step[] = [
    { says: "sent", at: all(faults, ({ sent_at: at }) => at) },
    { says: `${nodes} ${faults.length > 1 ? "have" : "has"} it`, at: all(faults, ({ received_at: at }) => at) },
  ];
  if (faults.every(wasRefused)) return sent;
  if (lasts(first.kind) || first.kind === "kill_agent") return [...sent, ...lastingSteps(faults, first)];
  const gone = { says: goneText(faults, pids), at: all(faults, (fault) => (fault.state === "done" ? fault.ended_at : null)) };
  return [...sent, gone, ...roundSteps(faults, rounds)];
}

function wasRefused({ is_final: isFinal, state }: FaultOut): boolean {
  return isFinal && state !== "done";
}

/** When the last of them came so far; null while one has not. One that is refused holds up nobody else. */
function all(faults: FaultOut[], when: (fault: FaultOut) => string | null): string | null {
  const counting = faults.every(wasRefused) ? faults : faults.filter((fault) => !wasRefused(fault));
  const times = counting.map(when);
  if (times.includes(null)) return null;
  return (times as string[]).reduce((last, at) => (at > last ? at : last));
}

const BEGUN = {
  freeze_worker: "seen to stand still",
  slow_worker: "is slowed",
  cut_node: "is cut off",
  kill_agent: "its node agent is gone",
} as const;
const ENDED = {
  freeze_worker: "seen to go on",
  slow_worker: "is let go",
  cut_node: "is heard again",
  kill_agent: "another node agent has taken over",
} as const;

function lastingSteps(faults: FaultOut[], { kind }: FaultOut): Step[] {
  const key = kind as keyof typeof BEGUN;
  return [
    { says: BEGUN[key], at: all(faults, ({ begun_at: at }) => at) },
    { says: ENDED[key], at: all(faults, ({ state, ended_at: at }) => (state === "done" ? at : null)) },
  ];
}

function goneText(faults: FaultOut[], pids: ReadonlyMap<number, number>): string {
  const [first] = faults;
  if (faults.length > 1) return `${plural(faults.length, "worker")} are gone`;
  if (first === undefined || first.rank === null) return "nothing of the runner is left";
  const pid = pids.get(first.rank);
  return pid === undefined ? `rank ${first.rank} is gone` : `pid ${pid} is gone`;
}

/** The round that began with it, as soon as the hub knows of one. */
function roundSteps(faults: FaultOut[], rounds: RoundOut[]): Step[] {
  const outcome = faults.find((fault) => fault.outcome?.round != null)?.outcome;
  const expected = (faults[0]?.round ?? 0) + 1;
  if (outcome?.round == null) return [{ says: `round ${expected} is formed`, at: null }];
  const formed = rounds.findLast((round) => round.number === outcome.round);
  const steps: Step[] = [
    { says: `round ${outcome.round} is formed, world size ${outcome.world_size}`, at: formed?.formed_at },
  ];
  if (formed?.resumed_step != null) steps.push({ says: `resumed from step ${formed.resumed_step}`, at: undefined });
  return steps;
}

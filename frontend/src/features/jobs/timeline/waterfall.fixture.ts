/** A restart after a kill by hand, from the fault to the pace of before, for tests. */
import type { PhaseOut, RoundOut } from "@/api";
import { aRound } from "../job.fixture";
import type { PhaseName } from "./waterfall-scale";

const FAULT = Date.parse("2026-11-30T12:00:00Z");

/** A phase that began so many seconds after the fault; without them it was not reported. */
export function aPhase(name: PhaseName, began_s?: number, seconds?: number, change: Partial<PhaseOut> = {}): PhaseOut {
  const start = began_s === undefined ? null : new Date(FAULT + 1000 * began_s).toISOString();
  return { name, start, seconds: seconds ?? null, critical_node: null, critical_rank: null, ...change };
}

export const PHASES: PhaseOut[] = [
  aPhase("detect", 0, 0.01, { critical_node: null }),
  aPhase("stop", 0.01, 0.02, { critical_node: "node-b" }),
  aPhase("joining", 0.04, 0.1, { critical_node: "node-a" }),
  aPhase("last_call", 0.14, 0.002, { critical_node: "node-a" }),
  aPhase("start", 0.142, 0.03, { critical_node: "node-b" }),
  aPhase("script", 0.172, 0.02, { critical_node: "node-b", critical_rank: 3 }),
  aPhase("process_group", 0.192, 0.05, { critical_node: "node-b", critical_rank: 2 }),
  aPhase("checkpoint"),
  aPhase("first_step", 0.242, 0.2, { critical_node: "node-b", critical_rank: 3 }),
  aPhase("pace", 0.442, 4, { critical_node: "node-a", critical_rank: 0 }),
];

export function aRestart(number: number, change: Partial<RoundOut> = {}): RoundOut {
  const way = { phases: PHASES, recovery_s: 0.442, unaccounted_s: 0.01 };
  const round = aRound(number, ["node-a", "node-b"]);
  return { ...round, restart: "failure", ...way, ...change };
}

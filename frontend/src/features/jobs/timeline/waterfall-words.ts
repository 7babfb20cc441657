/** The way into a round in words: its phases, who was last, and what was not reported and why. Pure. */
import type { PhaseOut, RoundOut } from "@/api";
import { formatDuration } from "@/lib/format";
import { wayBack, type Axis, type PhaseName } from "./waterfall-scale";

const NO_GROUP = "no call of init_process_group was reported: with start: exec, import regroup_report";
const NO_STEP = "no step was reported: call regroup_report.step in the script";
const NO_MOMENT = "one of its moments was not reported, or they contradict each other";
const NO_PACE = "steps were not as fast as before yet, or too few were reported";

interface PhaseWords {
  word: string;
  /** From where to where it goes. */
  meaning: string;
  /** Why it may not be reported. */
  missing: string;
}

export const PHASE_WORDS: Record<PhaseName, PhaseWords> = {
  detect: { word: "detect", meaning: "from the fault until a runner knew of it", missing: "no fault was sent by hand" },
  stop: { word: "stop", meaning: "until the workers of the round before were gone", missing: NO_MOMENT },
  joining: { word: "joining", meaning: "until all nodes of the round had joined", missing: NO_MOMENT },
  last_call: { word: "last call", meaning: "until the round was formed", missing: NO_MOMENT },
  start: { word: "start", meaning: "until the processes were there", missing: NO_MOMENT },
  script: { word: "script", meaning: "until the workers called init_process_group", missing: NO_GROUP },
  process_group: { word: "process group", meaning: "until init_process_group returned", missing: NO_GROUP },
  checkpoint: {
    word: "checkpoint",
    meaning: "until the workers said from which step they go on",
    missing: "no checkpoint was reported as loaded: call regroup_report.resumed in the script",
  },
  first_step: { word: "first step", meaning: "until the workers had reported a step", missing: NO_STEP },
  pace: {
    word: "pace of before",
    meaning: "until steps took no longer than in the round before",
    missing: NO_PACE,
  },
};

/** Two decimals while they tell something: "0.42 s", "14.2 s", "3 min 20 s". */
export function formatTook(seconds: number): string {
  if (seconds >= 60) return formatDuration(seconds);
  if (seconds > 0 && seconds < 0.005) return "< 0.01 s";
  return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s`;
}

/** Where a bar stands, for who does not see it: "from 0.02 s to 0.12 s". */
export function standsAt({ start, seconds }: PhaseOut, axis: Axis | null): string {
  if (axis === null || start === null || seconds === null) return "";
  const from = (Date.parse(start) - axis.from) / 1000;
  return `from ${formatTook(from)} to ${formatTook(from + seconds)}`;
}

/** All of a row in one line: "stop 0.02 s, joining 0.10 s". */
export function listedPhases(phases: readonly PhaseOut[], between = ", "): string {
  const told = wayBack(phases).flatMap(({ name, seconds }) =>
    seconds === null ? [] : [`${PHASE_WORDS[name].word} ${formatTook(seconds)}`],
  );
  return told.join(between);
}

/** Who was the last to be through: "rank 5 on node-b was last". */
export function lastThrough({ critical_node: node, critical_rank: rank }: PhaseOut): string {
  if (rank !== null) return node === null ? `rank ${rank} was last` : `rank ${rank} on ${node} was last`;
  return node === null ? "" : `${node} was last`;
}

/** Why a phase has no seconds. */
export function whyMissing(name: PhaseName, round: RoundOut): string {
  const isFirst = round.restart === "start";
  const wasKilledByHand = round.restart === "failure" && round.cause?.planned === true;
  if (name === "detect" && wasKilledByHand) return NO_MOMENT;
  if (isFirst && (name === "detect" || name === "stop")) return "no round came before it";
  if (isFirst && name === "checkpoint") return "no checkpoint was reported as loaded";
  return isFirst && name === "pace" ? "no steps came before it" : PHASE_WORDS[name].missing;
}

/** How many restarts of the job have told how long a phase took. */
export function timesMeasured(rounds: readonly RoundOut[], name: PhaseName): number {
  const isMeasured = (round: RoundOut) => round.phases.some((phase) => phase.name === name && phase.seconds !== null);
  return rounds.filter((round) => round.restart !== "start" && isMeasured(round)).length;
}

/** "median 0.12 s; 3.1 times that". Of a phase that was measured once there is none worth telling. */
export function medianWords(seconds: number, median: number | undefined, times: number): string {
  if (median === undefined) return "";
  if (times < 2) return "measured once";
  return `median ${formatTook(median)}; ${againstMedian(seconds, median)}`;
}

function againstMedian(seconds: number, median: number): string {
  const ratio = seconds / median;
  if (Math.abs(seconds - median) < 0.005 || Math.abs(ratio - 1) < 0.1) return "about that";
  if (!Number.isFinite(ratio)) return "more";
  return `${ratio.toFixed(ratio < 9.95 ? 1 : 0)} times that`;
}

/** What the time is counted from: the first moment that was reported. */
const COUNTED_FROM: Partial<Record<PhaseName, string>> = {
  detect: "the fault",
  stop: "a runner's notice of it",
  joining: "the beginning of the rendezvous",
};

/** "Back in 0.42 s, from the fault to the first step."; of the first round of an attempt, when its first step came. */
export function wholeWay(round: RoundOut, isGoingOn: boolean): string {
  if (round.recovery_s === null) return isGoingOn ? "No step is reported yet." : "No step was reported in this round.";
  const first = wayBack(round.phases).find((phase) => phase.seconds !== null);
  const from = first && (COUNTED_FROM[first.name] ?? `the beginning of "${PHASE_WORDS[first.name].word}"`);
  const took = formatTook(round.recovery_s);
  if (round.restart === "start") return `The first step came ${took} after ${from ?? "the first moment that was reported"}.`;
  return from === undefined ? `Back in ${took}.` : `Back in ${took}, from ${from} to the first step.`;
}

/** One line: "Round 8 was back in 0.42 s: stop 0.02 s · joining 0.10 s · first step 0.20 s". */
export function inOneLine(round: RoundOut, isGoingOn: boolean): string {
  const told = listedPhases(round.phases, " · ");
  if (told === "") return `Round ${round.number}: no moment of this restart is recorded.`;
  return `Round ${round.number} ${result(round, isGoingOn)}: ${told}`;
}

function result({ recovery_s: took }: RoundOut, isGoingOn: boolean): string {
  if (took !== null) return `was back in ${formatTook(took)}`;
  return isGoingOn ? "has reported no step yet" : "reported no step";
}

/** False of a round that began before moments were recorded, or whose nodes have told none yet. */
export function hasMoments({ phases }: RoundOut): boolean {
  return phases.some((phase) => phase.seconds !== null);
}

export function newestRestart(rounds: readonly RoundOut[]): RoundOut | undefined {
  return rounds.findLast((round) => round.restart !== "start");
}

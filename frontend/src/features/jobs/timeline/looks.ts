/** How each stretch of a lane looks: phases of a node, and how the worker of a rank ended. */
import { PHASES, WORKER_STATES, WORKER_WORDS, type Phase, type Tone, type WorkerState } from "@/lib/states";

/** A solid bar, a pale one with a line below it, or stripes: what nobody knows. */
export type Fill = "solid" | "pale" | "striped";

export type LookName = Phase | WorkerState | "unheard";

export interface Look {
  meaning: string;
  tone: Tone;
  fill: Fill;
  /** Written into the bar where there is room. */
  word: string;
}

const UNHEARD: Look = { meaning: "not heard: what runs there is not known", tone: "grey", fill: "striped", word: "not heard" };

const FILLS: Record<WorkerState, Fill> = {
  running: "solid",
  cause: "solid",
  peer_lost: "pale",
  stopped: "pale",
  finished: "pale",
  unknown: "striped",
};

/** From the least to the gravest: of several in one pixel the gravest is seen. */
const ORDER: readonly LookName[] = [
  "up",
  "running",
  "finishing",
  "finished",
  "launching",
  "idle",
  "formed",
  "starting",
  "rendezvous",
  "stopped",
  "restarting",
  "peer_lost",
  "unheard",
  "unknown",
  "cause",
];

export function lookNamed(name: LookName): Look {
  if (name === "unheard") return UNHEARD;
  if (name in PHASES) return phaseLook(name as Phase);
  const state = name as WorkerState;
  return { meaning: WORKER_STATES[state].meaning, tone: WORKER_STATES[state].tone, fill: FILLS[state], word: WORKER_WORDS[state] };
}

/** Stripes are for what nobody knows, so a runner that gets ready is pale. */
function phaseLook(phase: Phase): Look {
  const { meaning, tone, fill } = PHASES[phase];
  return { meaning, tone, fill: fill === "solid" ? "solid" : "pale", word: "" };
}

/** By number, as bars hold them. */
export const LOOKS: readonly Look[] = ORDER.map(lookNamed);

const NUMBERS = Object.fromEntries(ORDER.map((name, number) => [name, number])) as Record<LookName, number>;

export function numberOf(name: LookName): number {
  return NUMBERS[name];
}

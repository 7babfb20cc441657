/** What each cell of the grid shows of its worker: a state, or how much of something, and all of it in words. Pure. */
import type { WorkerOut, WorkerUsageOut } from "@/api";
import { formatAge, formatBytes, formatCount } from "@/lib/format";
import { never } from "@/lib/never";
import type { Tone } from "@/lib/states";
import { formatCpu, formatGpu, formatMemory, standingOf, UNKNOWN, type UsageByRank } from "../worker-usage";
import type { Measure } from "./view";

/** Filled from below: by nothing, a quarter, and so on to the whole cell. Null: not known. */
export type Level = 0 | 1 | 2 | 3 | 4 | null;

export interface Cell {
  worker: WorkerOut;
  usage: WorkerUsageOut | undefined;
  /** Undefined: the cell shows a level. */
  state: { letter: string; tone: Tone; striped: boolean; word: string } | undefined;
  level: Level;
}

export interface Entry {
  cell: Pick<Cell, "state" | "level">;
  word: string;
  count: number;
}

/** The letter of each state; who runs as it should has none. */
const LETTERS: Record<string, string> = {
  running: "",
  failed: "F",
  "peer lost": "P",
  ended: "E",
  finished: "✓",
  unknown: "?",
  "stopped (T)": "T",
  "traced (t)": "t",
  "waits (D)": "D",
  "zombie (Z)": "Z",
};

export interface Seen {
  usage: UsageByRank;
  fastest: number;
  now: number;
}

export function cellsOf(workers: readonly WorkerOut[], by: Measure, seen: Seen): Cell[] {
  const limits = limitsOf(by, seen.usage);
  return workers.map((worker) => {
    const usage = seen.usage.get(worker.rank);
    if (by === "state") return { worker, usage, state: stateOf(worker, usage), level: null };
    return { worker, usage, state: undefined, level: levelOf(valueOf(worker, by, seen), limits) };
  });
}

function stateOf(worker: WorkerOut, usage: WorkerUsageOut | undefined): NonNullable<Cell["state"]> {
  const { word, look } = standingOf(worker, usage);
  return { letter: LETTERS[word] ?? "?", tone: look.tone, striped: look.striped === true, word };
}

function valueOf(worker: WorkerOut, by: Exclude<Measure, "state">, { usage, fastest, now }: Seen): number | null {
  const uses = usage.get(worker.rank);
  switch (by) {
    case "lag":
      return worker.step === null ? null : fastest - worker.step;
    case "silence":
      return silenceOf(worker, uses, now);
    case "cpu":
      return uses?.cpu ?? null;
    case "memory":
      return uses?.memory_bytes ?? null;
    case "gpu":
      return uses?.gpu ?? null;
    default:
      return never(by);
  }
}

/** By its node's own clock where that tells; else by the moment of the last report. Of one that has ended there is none. */
function silenceOf(worker: WorkerOut, usage: WorkerUsageOut | undefined, now: number): number | null {
  if (worker.state !== "running") return null;
  if (usage !== undefined && usage.progress_s !== null) return usage.progress_s;
  return worker.progress_at === null ? null : Math.max(0, (now - Date.parse(worker.progress_at)) / 1000);
}

type Limits = readonly [number, number, number, number];

/** From each of these on the next level begins. */
const LIMITS: Record<Exclude<Measure, "state" | "memory">, Limits> = {
  lag: [1, 2, 10, 100],
  silence: [2, 5, 15, 60],
  cpu: [0.25, 0.75, 1.5, 4],
  gpu: [0.2, 0.4, 0.6, 0.8],
};

/** Memory is told by what the largest of them uses: how much is much depends on the job. */
function limitsOf(by: Measure, usage: UsageByRank): Limits {
  if (by === "state") return LIMITS.lag;
  if (by !== "memory") return LIMITS[by];
  let most = 0;
  for (const one of usage.values()) most = Math.max(most, one.memory_bytes ?? 0);
  return [most * 0.2, most * 0.4, most * 0.6, most * 0.8];
}

/** Nothing is always the lowest level, also where the largest is nothing. */
function levelOf(value: number | null, limits: Limits): Level {
  if (value === null) return null;
  if (value === 0) return 0;
  return limits.filter((limit) => value >= limit).length as Level;
}

export function legendOf(cells: readonly Cell[], by: Measure, usage: UsageByRank): Entry[] {
  return by === "state" ? statesIn(cells) : levelsIn(cells, wordsOf(by, limitsOf(by, usage)), UNKNOWN_WORDS[by]);
}

function statesIn(cells: readonly Cell[]): Entry[] {
  const found = new Map<string, Entry>();
  for (const { state, level } of cells) {
    if (state === undefined) continue;
    const entry = found.get(state.word);
    if (entry) entry.count += 1;
    else found.set(state.word, { cell: { state, level }, word: state.word, count: 1 });
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

/** Why there is no level. A worker that has ended makes no more progress, but its last step stays known. */
const UNKNOWN_WORDS: Record<Exclude<Measure, "state">, string> = {
  lag: "no step reported",
  silence: "ended, or not known",
  cpu: "not known",
  memory: "not known",
  gpu: "not known",
};

/** Limits mean nothing where no value is known, and nobody has to be told that none is missing. */
function levelsIn(cells: readonly Cell[], words: readonly string[], unknownWord: string): Entry[] {
  const counted = (level: Level) => cells.filter((cell) => cell.level === level).length;
  const entry = (level: Level, word: string): Entry => ({ cell: { state: undefined, level }, word, count: counted(level) });
  const known = words.map((word, level) => entry(level as Level, word));
  const unknown = entry(null, unknownWord);
  if (unknown.count === cells.length) return [unknown];
  return unknown.count === 0 ? known : [...known, unknown];
}

function wordsOf(by: Exclude<Measure, "state">, limits: Limits): string[] {
  if (by === "lag") return ["none", "1 step", "2 to 9", "10 to 99", "100 and more"];
  const say = SAID[by];
  const [first, ...rest] = limits.map(say) as [string, ...string[]];
  return [`below ${first}`, ...rest.map((to, index) => `${say(limits[index] as number)} to ${to}`), `${rest.at(-1)} and more`];
}

const SAID: Record<Exclude<Measure, "state" | "lag">, (value: number) => string> = {
  silence: (seconds) => `${seconds} s`,
  cpu: (cores) => formatCpu(cores),
  memory: (bytes) => formatBytes(bytes),
  gpu: (share) => `${Math.round(share * 100)} %`,
};

/** All that is known of one worker, for the line below the grid. */
export function wordsFor({ worker, usage }: Pick<Cell, "worker" | "usage">, seen: Seen): string {
  const silence = silenceOf(worker, usage, seen.now);
  const parts = [
    standingOf(worker, usage).word,
    worker.step === null ? "no step reported" : `step ${formatCount(worker.step)}, ${formatCount(seen.fastest - worker.step)} behind`,
    silence === null ? "" : `reported ${silence < 1 ? "now" : `${formatAge(silence)} ago`}`,
    `CPU ${formatCpu(usage?.cpu)}`,
    `memory ${formatMemory(usage?.memory_bytes)}`,
    formatGpu(usage) === UNKNOWN ? "" : `GPU ${usage?.gpu_index ?? ""} ${formatGpu(usage)}`,
    worker.said,
  ];
  return `Rank ${worker.rank} on ${worker.node}, pid ${worker.pid}: ${parts.filter(Boolean).join(" · ")}`;
}

/** Stacks in words: which ranks stand together, and all of it as text to copy. Pure. */
import type { FrameOut, StackGroupOut, StacksOut, ThreadOut } from "@/api";
import { plural } from "@/lib/format";

const NAMED = 12;

/** "rank 3", "4 ranks: 0, 1, 2, 5", and of many ranges: "64 ranks: 0–62, 64". */
export function ranksOf(ranks: readonly number[]): string {
  if (ranks.length === 1) return `Rank ${ranks[0]}`;
  const runs = runsOf(ranks);
  const shown = runs.slice(0, NAMED).map(([from, to]) => (from === to ? `${from}` : to === from + 1 ? `${from}, ${to}` : `${from}–${to}`));
  return `${plural(ranks.length, "rank")}: ${shown.join(", ")}${runs.length > NAMED ? " …" : ""}`;
}

function runsOf(ranks: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const rank of ranks) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === rank - 1) last[1] = rank;
    else runs.push([rank, rank]);
  }
  return runs;
}

/** What the group does, beside its place. */
export function doing({ stands_out, is_waiting }: StackGroupOut): string {
  if (stands_out) return "not where the others wait";
  return is_waiting ? "waits for other ranks" : "";
}

export function frameText({ name, file, line }: FrameOut): string {
  return `${name} (${file}:${line})`;
}

export function threadName({ name }: ThreadOut, index: number): string {
  if (index === 0) return "Main thread";
  return name === "" ? `Thread ${index + 1}` : `Thread ${name}`;
}

/** All of it as plain text, for a report. */
export function stacksText(groups: readonly StackGroupOut[], ranks: StacksOut["ranks"] = [], silent: readonly string[] = []): string {
  const blocks = groups.map((group) => [`${ranksOf(group.ranks)} — ${group.place}`, ...group.threads.map(threadText)].join("\n"));
  const unread = ranks.filter(({ problem }) => problem !== null).map(({ rank, node, problem }) => `Rank ${rank} on ${node}: ${problem}`);
  return [...blocks, ...unread, ...silent].join("\n\n");
}

function threadText(thread: ThreadOut, index: number): string {
  return [`  ${threadName(thread, index)}`, ...thread.frames.map((frame) => `    ${frameText(frame)}`)].join("\n");
}

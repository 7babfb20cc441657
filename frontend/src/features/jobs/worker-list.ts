/** The list of workers: which of them a text finds, and where the keyboard goes in it. Pure. */
import type { WorkerOut } from "@/api";

/** From here on there is a field to search them. */
export const MANY = 20;

type Named = Pick<WorkerOut, "rank" | "node" | "pid" | "state">;

/** "517" is that rank or that pid; "node-b" a part of the node's name; several words must all be true of it. */
export function matching<T extends Named>(workers: T[], text: string): T[] {
  const words = text.toLowerCase().split(/[\s,]+/).filter((word) => word !== "" && word !== "rank");
  return words.length === 0 ? workers : workers.filter((worker) => words.every((word) => isTrueOf(worker, word)));
}

function isTrueOf({ rank, node, pid, state }: Named, word: string): boolean {
  if (/^\d+$/.test(word)) return String(rank) === word || String(pid) === word;
  return node.toLowerCase().includes(word) || state.startsWith(word);
}

const PAGE = 10;

/** Where a key leads from the row at `index`, of `count` rows. Null: it is no key of the list. */
export function rowAfter(key: string, index: number, count: number): number | null {
  const wanted: Record<string, number> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + PAGE,
    PageUp: index - PAGE,
    Home: 0,
    End: count - 1,
  };
  const found = wanted[key];
  return found === undefined ? null : Math.min(count - 1, Math.max(0, found));
}

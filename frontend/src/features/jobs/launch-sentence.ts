/** What a launch form means, in words, as one types. */
import { plural } from "@/lib/format";

export interface Asked {
  nnodes: string;
  nodes: number | null;
  nproc: number;
  maxRestarts: number;
}

/** The range of an nnodes text, or null where it is none. */
export function readNnodes(text: string): { low: number; high: number } | null {
  const match = /^\s*(\d+)(?::(\d+))?\s*$/.exec(text);
  if (match === null) return null;
  const low = Number(match[1]);
  const high = match[2] === undefined ? low : Number(match[2]);
  return low >= 1 && high >= low ? { low, high } : null;
}

export function launchSentence(asked: Asked): string {
  const range = readNnodes(asked.nnodes);
  if (range === null) return "nnodes is a number of nodes, such as 2, or a range, such as 1:4.";
  return [nodesSentence(range, asked), restartSentence(asked.maxRestarts)].join(" ");
}

function nodesSentence({ low, high }: { low: number; high: number }, { nodes, nproc }: Asked): string {
  const workers = `${plural(nproc, "worker")} each`;
  if (low === high) return `Runs on ${plural(low, "node")} with ${workers}: ${plural(low * nproc, "rank")}. A lost node ends it, or makes it wait.`;
  const wanted = nodes === null ? "as many as are free now" : `${nodes} wanted now`;
  const ranks = nodes === null ? `${low * nproc} to ${high * nproc} ranks` : plural(nodes * nproc, "rank");
  return `Runs on ${low} to ${high} nodes, ${wanted}, with ${workers}: ${ranks}. It goes on as long as ${plural(low, "node")} ${low === 1 ? "is" : "are"} left.`;
}

function restartSentence(maxRestarts: number): string {
  if (maxRestarts === 0) return "The first failure of a worker ends it: max_restarts is 0.";
  return `Up to ${plural(maxRestarts, "failure restart")} for each node.`;
}

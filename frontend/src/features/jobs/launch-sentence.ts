/** What a launch form means, in words, as one types. */
import { plural } from "@/lib/format";

export interface Asked {
  nnodes: string;
  nodes: number | null;
  /** A number, or the word that stands for one. */
  nproc: number | string;
  maxRestarts: number;
  spares: number;
}

interface Range {
  low: number;
  high: number;
}

/** The range of an nnodes text, or null where it is none. */
export function readNnodes(text: string): Range | null {
  const match = /^\s*(\d+)(?::(\d+))?\s*$/.exec(text);
  if (match === null) return null;
  const low = Number(match[1]);
  const high = match[2] === undefined ? low : Number(match[2]);
  return low >= 1 && high >= low ? { low, high } : null;
}

const EACH: Record<string, string> = {
  gpu: "a worker for each GPU",
  cpu: "a worker for each CPU",
  auto: "a worker for each GPU, or for each CPU of a node that has no GPU",
};

export function launchSentence(asked: Asked): string {
  const range = readNnodes(asked.nnodes);
  if (range === null) return "nnodes is a number of nodes, such as 2, or a range, such as 1:4.";
  if (typeof asked.nproc === "string" && !(asked.nproc in EACH)) {
    return "nproc_per_node is a number of workers, or gpu, cpu or auto.";
  }
  return [nodesSentence(range, asked), sparesSentence(asked.spares), restartSentence(asked.maxRestarts)]
    .filter((sentence) => sentence)
    .join(" ");
}

function nodesSentence(range: Range, asked: Asked): string {
  const { low, high } = range;
  const workers = typeof asked.nproc === "number" ? `${plural(asked.nproc, "worker")} each` : (EACH[asked.nproc] ?? "");
  const size = `with ${workers}${ranks(range, asked)}`;
  if (low === high) return `Runs on ${plural(low, "node")} ${size}. A lost node ends it, or makes it wait.`;
  const wanted = asked.nodes === null ? "as many as are free now" : `${asked.nodes} wanted now`;
  return `Runs on ${low} to ${high} nodes, ${wanted}, ${size}. It goes on as long as ${plural(low, "node")} ${low === 1 ? "is" : "are"} left.`;
}

function ranks({ low, high }: Range, { nodes, nproc }: Asked): string {
  if (typeof nproc !== "number") return "";
  if (low === high) return `: ${plural(low * nproc, "rank")}`;
  return nodes === null ? `: ${low * nproc} to ${high * nproc} ranks` : `: ${plural(nodes * nproc, "rank")}`;
}

function sparesSentence(spares: number): string {
  if (spares === 0) return "";
  return `${plural(spares, "more node")} ${spares === 1 ? "stands" : "stand"} by and ${spares === 1 ? "takes" : "take"} the place of a lost one.`;
}

function restartSentence(maxRestarts: number): string {
  if (maxRestarts === 0) return "The first failure of a worker ends it: max_restarts is 0.";
  return `Up to ${plural(maxRestarts, "failure restart")} for each node.`;
}

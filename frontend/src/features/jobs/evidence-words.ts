/** What the evidence tab says of a round, in words. Pure. */
import type { EvidenceNode, EvidenceRound, HookOut } from "@/api";
import { formatBytes, formatDuration, plural } from "@/lib/format";

/** `?evidence=`: which round somebody came for. */
export function roundKey({ attempt, round }: Pick<EvidenceRound, "attempt" | "round">): string {
  return `${attempt}.${round}`;
}

export function roundTitle({ attempt, round }: Pick<EvidenceRound, "attempt" | "round">): string {
  return round === 0 ? `Attempt ${attempt}` : `Round ${round} of attempt ${attempt}`;
}

/** How much is kept, and by how many of the nodes. Empty where nothing was to be kept. */
export function keptSentence({ nodes, size_bytes }: EvidenceRound): string {
  if (nodes.length === 0) return "";
  const kept = nodes.filter(({ state }) => state === "kept");
  if (kept.length === 0) return "No node can give anything of it now.";
  const stacks = kept.reduce((sum, node) => sum + node.stacks.length, 0);
  const size = kept.reduce((sum, node) => sum + node.size_bytes, 0);
  const whole = kept.length === nodes.length ? size_bytes : size;
  return `${formatBytes(whole)} on ${kept.length} of ${plural(nodes.length, "node")}, with the stacks of ${plural(stacks, "rank")}.`;
}

export function isKept({ nodes }: EvidenceRound): boolean {
  return nodes.some(({ state }) => state === "kept");
}

/** Nodes that have nothing to give, each with the reason. */
export function absent({ nodes }: EvidenceRound): EvidenceNode[] {
  return nodes.filter(({ state }) => state !== "kept");
}

/** What could not be had though its node keeps the rest, with the node's name. */
export function missing({ nodes }: EvidenceRound): string[] {
  return nodes.flatMap((node) => (node.state === "kept" ? node.missing.map((what) => `${node.node}: ${what}`) : []));
}

export function hookSentence({ hook, node, said, took_s }: HookOut): string {
  return `${hook} on ${node} ${said}, after ${formatDuration(took_s)}.`;
}

export function isWell({ outcome, exit_code }: HookOut): boolean {
  return outcome === "ended" && exit_code === 0;
}

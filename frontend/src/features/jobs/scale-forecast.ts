/** What another number of nodes will do, before it is asked for: whole sentences. */
import type { JobOut, NodeOut } from "@/api";
import { plural } from "@/lib/format";
import { listed } from "@/lib/phrases";

export type Scaled = Pick<JobOut, "nodes" | "members" | "spec" | "world_size" | "round" | "store_host">;

export function forecastScale(job: Scaled, nodes: NodeOut[], target: number): string[] {
  const change = target - job.nodes.wanted;
  if (change === 0) return ["This is the number of nodes that is wanted already."];
  if (job.members.length === 0) return [`The job begins on ${plural(target, "node")}, as soon as that many are free.`];
  const more = `${plural(Math.abs(change), "node")} ${change > 0 ? "more" : "fewer"}`;
  const cost = `${more}: a membership restart${sizeText(job, target)}. No failure restart is spent.`;
  return [cost, change > 0 ? whereFrom(job, nodes, change) : whoLeaves(job)];
}

/** ", world size 4 → 6", where the number of workers on each node is known. */
function sizeText({ spec, world_size: now, round }: Scaled, target: number): string {
  if (typeof spec.nproc_per_node !== "number" || round === null) return "";
  return `, world size ${now} → ${target * spec.nproc_per_node}`;
}

function whereFrom(job: Scaled, nodes: NodeOut[], count: number): string {
  const found = findFree(job, nodes).slice(0, count);
  const missing = count - found.length;
  const has = found.map((node) => `${node.name} has ${plural(node.slots_free, "free slot")}`);
  if (missing === 0) return `${listed(has)}. Training goes on until ${count === 1 ? "it is" : "they are"} ready to start.`;
  const later = `The job takes ${missing === 1 ? "one" : missing} as soon as ${missing === 1 ? "it is" : "they are"} free.`;
  if (found.length > 0) return `${listed(has)}; no other node has enough. ${later}`;
  return `No other node has ${plural(slotsNeeded(job), "free slot")} now. ${later}`;
}

function whoLeaves({ store_host: host, spec }: Scaled): string {
  const stays = host === null ? "" : ` ${host} keeps the store and stays.`;
  return `The others form a new round at once; the workers of the node that leaves get SIGTERM and ${spec.shutdown_timeout} s.${stays}`;
}

/** Nodes that could take the job's workers now, in the order of their names. */
function findFree(job: Scaled, nodes: NodeOut[]): NodeOut[] {
  const mine = new Set(job.members.filter((member) => member.outcome === "").map((member) => member.node));
  return nodes
    .filter((node) => node.state === "online" && node.takes_no_jobs === "" && !mine.has(node.name))
    .filter((node) => node.slots_free >= slotsNeeded(job));
}

function slotsNeeded({ spec, members }: Scaled): number {
  if (typeof spec.nproc_per_node === "number") return spec.nproc_per_node;
  return Math.max(1, ...members.map((member) => member.slots));
}

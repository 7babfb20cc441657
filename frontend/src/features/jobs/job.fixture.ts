/** A job that trains on two of one to three nodes, and its parts, for tests. */
import type { JobOut, MemberOut, NodeOut, RoundOut } from "@/api";
import { DEFAULTS } from "./spec-defaults";

const AT = "2026-11-30T12:00:00Z";

export function aMember(node: string, change: Partial<MemberOut> = {}): MemberOut {
  return {
    node,
    phase: "up",
    since: AT,
    round: 1,
    group_rank: 0,
    hosts_store: false,
    start: "warm",
    outcome: "",
    reason: "",
    state: "online",
    silent_s: 0.4,
    slots: 2,
    incarnation: 1,
    deaths: [],
    is_spare: false,
    leaves_at: null,
    leaves_why: "",
    has_left: false,
    settled_at: null,
    ...change,
  };
}

export function aJob(change: Partial<JobOut> = {}): JobOut {
  const job: Partial<JobOut> = {
    id: 4,
    name: "char-lm",
    state: "training",
    version: 7,
    attempt: 1,
    round: 1,
    world_size: 4,
    workers_alive: 4,
    nodes: { min: 1, max: 3, wanted: 2, formed: 2, alive: 2 },
    spec: { ...DEFAULTS, nproc_per_node: 2 },
    store_host: "node-1",
    members: [aMember("node-1", { hosts_store: true }), aMember("node-2")],
    time_limit: null,
    scaling: { spares: 0, standing_by: 0, why: "", fixed: "" },
  };
  return { ...job, ...change } as JobOut;
}

export function aRound(number: number, nodes: string[]): RoundOut {
  const restart = number === 1 ? "start" : "membership";
  const told = { restart, cause: null, charged: null, why: "" } as const;
  const way = { resumed_step: null, steps_redone: null, phases: [], recovery_s: null, unaccounted_s: null };
  return { attempt: 1, number, nodes, world_size: 2 * nodes.length, ...told, consequences: [], ...way, formed_at: AT };
}

export function aNode(name: string, free: number, change: Partial<NodeOut> = {}): NodeOut {
  return { name, state: "online", slots: 2, slots_free: free, takes_no_jobs: "", jobs: [], ...change } as NodeOut;
}

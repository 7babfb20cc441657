/** A timeline in minutes after noon, for tests. */
import type { LaneOut, MarkOut, RankLaneOut, RoundOut, TimelineOut } from "@/api";
import { aRound } from "../job.fixture";
import type { Phase, WorkerState } from "@/lib/states";

const NOON = Date.parse("2026-11-30T12:00:00Z");

/** Milliseconds since the epoch, so many minutes after noon. */
export function minute(count: number): number {
  return NOON + 60_000 * count;
}

function iso(count: number): string {
  return new Date(minute(count)).toISOString();
}

type Told<Name> = [name: Name, from: number, to: number | null, round?: number];

export function aLane(node: string, ...spans: Told<Phase>[]): LaneOut {
  const told = spans.map(([phase, from, to, round]) => ({
    phase,
    began_at: iso(from),
    ended_at: to === null ? null : iso(to),
    round: round ?? null,
  }));
  return { node, spans: told };
}

export function aRankLane(node: string, rank: number, ...spans: Told<WorkerState>[]): RankLaneOut {
  const told = spans.map(([state, from, to, round]) => ({
    attempt: 1,
    state,
    began_at: iso(from),
    ended_at: to === null ? null : iso(to),
    round: round ?? 1,
  }));
  return { node, rank, spans: told };
}

export function formedAt(count: number, number: number, nodes: string[], change: Partial<RoundOut> = {}): RoundOut {
  return { ...aRound(number, nodes), formed_at: iso(count), ...change };
}

export function aMark(kind: MarkOut["kind"], count: number, change: Partial<MarkOut> = {}): MarkOut {
  return { kind, at: iso(count), node: "node-1", rank: null, round: 1, says: "", by: "", ...change };
}

export function aTimeline(change: Partial<TimelineOut>): TimelineOut {
  return { began_at: iso(0), now: iso(60), ended_at: null, rounds: [], lanes: [], marks: [], typical: {}, ...change };
}

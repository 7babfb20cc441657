/**
 * A job without what moves at every report. What shows the rest of it is rendered when that changes, which while a
 * job trains is hardly ever; the type keeps such a view from reading what would grow old in it. Pure.
 */
import type { JobOut } from "./types";

const MOVING = [
  "checkpoint_step",
  "goodput",
  "last_event",
  "last_output_at",
  "metrics",
  "step",
  "steps_per_s",
  "time_left_s",
  "timeline_version",
  "version",
  "workers",
] as const satisfies (keyof JobOut)[];

type Moving = (typeof MOVING)[number];

export type StandingJob = Omit<JobOut, Moving>;

const MOVES: ReadonlySet<string> = new Set(MOVING);

export function standingOf(job: JobOut): StandingJob {
  return Object.fromEntries(Object.entries(job).filter(([name]) => !MOVES.has(name))) as StandingJob;
}

/** What is said of the attempts of a job: the how manieth of how many, why the last one ended, when the next follows. */
import type { AttemptOut, JobOut } from "@/api";
import { ENDED } from "@/lib/states";

type Attempted = Pick<JobOut, "state" | "attempt" | "attempts" | "relaunches">;

/** "attempt 2 of at most 4"; of a job that is over just the number. */
export function attemptText(job: Attempted): string {
  if (job.attempt === null) return "not placed yet";
  if (ENDED.has(job.state) || job.relaunches.max === 0) return `attempt ${job.attempt}`;
  return `attempt ${job.attempt} of at most ${mostAttempts(job, job.attempt)}`;
}

/** An attempt that an operator had begun anew, by a drain, counts for no relaunch. */
function mostAttempts({ attempts, relaunches }: Attempted, newest: number): number {
  const isAnotherDue = attempts[0] !== undefined && attempts[0].ended_at !== null;
  return newest + (isAnotherDue ? 1 : 0) + Math.max(0, relaunches.max - relaunches.used);
}

/** The attempt before the one that runs or is due; null when there is none. */
export function lastEnded(job: Attempted): AttemptOut | null {
  const isOver = ENDED.has(job.state);
  return job.attempts.slice(isOver ? 1 : 0).find((attempt) => attempt.ended_at !== null) ?? null;
}

/** "Attempt 2 follows in 3 s."; empty when none is due. */
export function nextText(job: Attempted, nowMs: number): string {
  const at = job.relaunches.next_at;
  const ended = job.attempts[0];
  if (job.state !== "queued" || at === null || ended === undefined) return "";
  const left = Math.ceil((Date.parse(at) - nowMs) / 1000);
  return left > 0 ? `Attempt ${ended.number + 1} follows in ${left} s.` : `Attempt ${ended.number + 1} follows as soon as it can be placed.`;
}

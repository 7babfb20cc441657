/** How far a job is and how long it has still to go, in words. Pure. */
import type { JobOut } from "@/api";
import { formatRemaining } from "@/lib/format";
import { ENDED } from "@/lib/states";

type Told = Pick<JobOut, "state" | "step" | "total" | "time_left_s" | "time_limit">;

/** Of all steps, what is done: 0 to 1. Null: the script does not say how many there are. */
export function doneOf({ step, total }: Pick<Told, "step" | "total">): number | null {
  if (step === null || total === null || total <= 0) return null;
  return Math.min(1, step / total);
}

/** Null: there is nothing to say, as it is over or nobody knows how many steps there are. */
export function timeLeft({ state, step, total, time_left_s: left, time_limit: limit }: Told): string | null {
  if (ENDED.has(state) || doneOf({ step, total }) === null) return null;
  if (state !== "training") return null;
  if (left === null) return "time left not known yet";
  return limit?.is_too_short === true ? `${formatRemaining(left)} still to train` : `${formatRemaining(left)} left`;
}

/** What is left of the job's limit of time. Null: it has none, or it ends anyway. `now` is the hub's, in ms. */
export function limitLeft({ state, time_limit: limit }: Pick<JobOut, "state" | "time_limit">, now: number): string | null {
  if (limit === null || ENDED.has(state) || state === "stopping") return null;
  if (limit.is_up_at === null) return `time limit: ${formatRemaining(limit.left_s)} of running`;
  const left = `${formatRemaining(Math.max(0, (Date.parse(limit.is_up_at) - now) / 1000))} left`;
  return limit.is_too_short ? `time limit comes first: ${left}` : `time limit: ${left}`;
}

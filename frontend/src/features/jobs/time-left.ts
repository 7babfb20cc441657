/** How far a job is and how long it has still to go, in words. Pure. */
import type { JobOut } from "@/api";
import { formatRemaining } from "@/lib/format";
import { ENDED } from "@/lib/states";

type Told = Pick<JobOut, "state" | "step" | "total" | "time_left_s">;

/** Of all steps, what is done: 0 to 1. Null: the script does not say how many there are. */
export function doneOf({ step, total }: Pick<Told, "step" | "total">): number | null {
  if (step === null || total === null || total <= 0) return null;
  return Math.min(1, step / total);
}

/** Null: there is nothing to say, as it is over or nobody knows how many steps there are. */
export function timeLeft({ state, step, total, time_left_s: left }: Told): string | null {
  if (ENDED.has(state) || doneOf({ step, total }) === null) return null;
  if (state !== "training") return null;
  return left === null ? "time left not known yet" : `${formatRemaining(left)} left`;
}

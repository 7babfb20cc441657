import { formatClock } from "@/lib/format";
import { StateShape } from "./state-shape";
import classes from "./steps.module.css";

export interface Step {
  says: string;
  /** When it came about. null: not yet. undefined: it has, the moment is not known. */
  at: string | null | undefined;
}

/** What was asked for on its way: one line for each step, reached only when there is evidence of it. */
export function Steps({ steps }: { steps: Step[] }) {
  return (
    <ol className={classes["steps"]} aria-live="polite">
      {steps.map((step) => (
        <li key={step.says} data-reached={step.at !== null || undefined}>
          <StateShape shape={step.at === null ? "dotted" : "full"} />
          <span>{step.says}</span>
          <span className="mono">{momentOf(step)}</span>
        </li>
      ))}
    </ol>
  );
}

function momentOf({ at }: Step): string {
  if (at === null) return "waiting";
  return at === undefined ? "" : formatClock(at, true);
}

import type { JobOut } from "@/api";
import { formatClock, formatMoment } from "@/lib/format";
import { More, MoreList } from "./more";
import classes from "./budget-causes.module.css";

/** What the newest failure restarts were spent on, and what is left: behind the number. */
export function BudgetCauses({ budget }: { budget: JobOut["budget"] }) {
  if (budget.last_causes.length === 0) return null;
  return (
    <More word="causes">
      <p className={classes.sentence} data-testid="budget">
        {budget.sentence}
      </p>
      <MoreList label="What was spent last, newest first">
        {budget.last_causes.map((cause) => (
          <li key={cause.round}>
            <time className="mono small" dateTime={cause.at} title={formatMoment(cause.at)}>
              {formatClock(cause.at)}
            </time>
            <span>round {cause.round}</span>
            <span>{cause.sentence || "Its cause is not known."}</span>
          </li>
        ))}
      </MoreList>
      {budget.torch_differs !== "" && <p className={classes.note}>{budget.torch_differs}</p>}
    </More>
  );
}

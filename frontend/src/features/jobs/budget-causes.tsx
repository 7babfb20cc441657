import { Popover, UnstyledButton } from "@mantine/core";
import type { JobOut } from "@/api";
import { formatClock, formatMoment } from "@/lib/format";
import classes from "./budget-causes.module.css";

/** What the newest failure restarts were spent on, and what is left: behind the number. */
export function BudgetCauses({ budget }: { budget: JobOut["budget"] }) {
  if (budget.last_causes.length === 0) return null;
  return (
    <Popover position="bottom-start" width="min(560px, 94vw)" transitionProps={{ duration: 0 }} trapFocus>
      <Popover.Target>
        <UnstyledButton className={classes.open}>
          causes <span aria-hidden="true">▾</span>
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <p className={classes.sentence} data-testid="budget">
          {budget.sentence}
        </p>
        <ol className={classes.list} tabIndex={0} aria-label="What was spent last, newest first">
          {budget.last_causes.map((cause) => (
            <li key={cause.round}>
              <time className="mono small" dateTime={cause.at} title={formatMoment(cause.at)}>
                {formatClock(cause.at)}
              </time>
              <span>round {cause.round}</span>
              <span>{cause.sentence || "Its cause is not known."}</span>
            </li>
          ))}
        </ol>
        {budget.torch_differs !== "" && <p className={classes.note}>{budget.torch_differs}</p>}
      </Popover.Dropdown>
    </Popover>
  );
}

import type { JobOut } from "@/api";
import classes from "./restart-budget.module.css";

const MOST_PIPS = 10;

/** What each node has spent of its own budget. The job ends when a node needs more than it has. */
export function RestartBudget({ restarts }: { restarts: JobOut["restarts"] }) {
  const spenders = Object.entries(restarts.by_node).filter(([, budget]) => budget.charged > 0);
  if (restarts.max_restarts === 0) return <>none allowed: the first failure ends the job</>;
  if (spenders.length === 0) return <>{restarts.max_restarts} left on each node</>;
  return (
    <span className={classes.spenders}>
      {spenders.map(([node, budget]) => (
        <span key={node} title={`${node} has spent ${budget.charged} and has ${budget.remaining} left`}>
          {restarts.max_restarts <= MOST_PIPS && <Pips spent={budget.charged} of={restarts.max_restarts} />} {node}:{" "}
          {budget.remaining} left
        </span>
      ))}
    </span>
  );
}

function Pips({ spent, of }: { spent: number; of: number }) {
  return (
    <span className={classes.pips} aria-hidden="true">
      {Array.from({ length: of }, (_, index) => (
        <i key={index} data-spent={index < spent || undefined} />
      ))}
    </span>
  );
}

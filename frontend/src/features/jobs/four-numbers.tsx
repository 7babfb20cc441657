import type { ReactNode } from "react";
import type { StandingJob, RoundOut } from "@/api";
import { ENDED } from "@/lib/states";
import { BudgetCauses } from "./budget-causes";
import { nodesNote } from "./nodes-note";
import { RestartBudget } from "./restart-budget";
import { ScaleControl } from "./scale-control";
import classes from "./four-numbers.module.css";

/** World size, nodes, and the two kinds of restarts, never mixed. */
export function FourNumbers({ job, rounds }: { job: StandingJob; rounds: RoundOut[] }) {
  const { nodes, restarts } = job;
  const isOver = ENDED.has(job.state);
  const most = job.spec.max_membership_restarts ?? null;
  const hasRound = job.round !== null;
  return (
    <dl className={`${classes.numbers} live`}>
      <Cell name="World size" note={roundNote(job, isOver)}>
        <b data-testid="world-size">{hasRound ? job.world_size : "–"}</b>
        {hasRound && !isOver && <span className={classes.of}>formed, {job.workers_alive} alive</span>}
      </Cell>
      <Cell name="Nodes" note={<span data-testid="nodes-note">{nodesNote(job)}</span>}>
        <b data-testid="nodes-formed">{hasRound ? nodes.formed : "–"}</b>
        {hasRound && !isOver && <span className={classes.of}>formed, {nodes.alive} alive</span>}
        <ScaleControl job={job} rounds={rounds} />
      </Cell>
      <Cell name="Failure restarts" note={<RestartBudget restarts={restarts} />}>
        <b data-testid="failure-restarts">{restarts.failure}</b>
        <span className={classes.of}>of {restarts.max_restarts}</span>
        <BudgetCauses budget={job.budget} />
      </Cell>
      <Cell name="Membership restarts" note="A node joined or left; not charged.">
        <b data-testid="membership-restarts">{restarts.membership}</b>
        {most !== null && <span className={classes.of}>of {most}</span>}
      </Cell>
    </dl>
  );
}

function roundNote({ round }: StandingJob, isOver: boolean): string {
  if (round === null) return isOver ? "no round was formed" : "no round formed yet";
  return isOver ? `round ${round}, the last one` : `round ${round}`;
}

function Cell({ name, note, children }: { name: string; note: ReactNode; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={classes.value}>{children}</dd>
      <dd className={classes.note}>{note}</dd>
    </div>
  );
}

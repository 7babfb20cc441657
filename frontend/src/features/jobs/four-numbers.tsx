import type { ReactNode } from "react";
import type { JobOut } from "@/api";
import { ENDED } from "@/lib/states";
import { RestartBudget } from "./restart-budget";
import classes from "./four-numbers.module.css";

/** World size, nodes, and the two kinds of restarts, never mixed. */
export function FourNumbers({ job }: { job: JobOut }) {
  const { nodes, restarts } = job;
  const isOver = ENDED.has(job.state);
  const range = nodes.min === nodes.max ? `${nodes.min}` : `${nodes.min}–${nodes.max}`;
  const hasRound = job.round !== null;
  return (
    <dl className={`${classes.numbers} live`}>
      <Cell name="World size" note={roundNote(job, isOver)}>
        <b data-testid="world-size">{hasRound ? job.world_size : "–"}</b>
        {hasRound && !isOver && <span className={classes.of}>formed, {job.workers_alive} alive</span>}
      </Cell>
      <Cell name="Nodes" note={`${nodes.wanted} wanted of ${range} allowed`}>
        <b>{hasRound ? nodes.formed : "–"}</b>
        {hasRound && !isOver && <span className={classes.of}>formed, {nodes.alive} alive</span>}
      </Cell>
      <Cell name="Failure restarts" note={<RestartBudget restarts={restarts} />}>
        <b data-testid="failure-restarts">{restarts.failure}</b>
        <span className={classes.of}>of {restarts.max_restarts}</span>
      </Cell>
      <Cell name="Membership restarts" note="A node joined or left; not charged.">
        <b data-testid="membership-restarts">{restarts.membership}</b>
      </Cell>
    </dl>
  );
}

function roundNote({ round }: JobOut, isOver: boolean): string {
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

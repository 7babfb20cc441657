import { Button } from "@mantine/core";
import { Fragment, useState } from "react";
import { useMayOperate, type StandingJob, type MemberOut, type RoundOut } from "@/api";
import { formatAge } from "@/lib/format";
import { ENDED, MEMBER_STATES, NODE_STATES } from "@/lib/states";
import { Age } from "@/ui/age";
import { StateWord } from "@/ui/state-word";
import table from "@/ui/table.module.css";
import { FaultDialog } from "./fault-dialog";
import { memberStanding } from "./member-standing";
import classes from "./members-tab.module.css";

const COLUMNS = 9;

/** The nodes of the newest attempt: where each stands, what it has spent, and what torch itself counts. */
export function MembersTab({ job, rounds }: { job: StandingJob; rounds: RoundOut[] }) {
  const [aimed, setAimed] = useState<string | null>(null);
  const mayAct = useMayOperate() && !ENDED.has(job.state);
  if (job.members.length === 0) return <p className="quiet">The job has not been placed on any node yet.</p>;
  return (
    <div className="live">
      <div className={table.scroll} tabIndex={0} role="region" aria-label="Nodes of the job">
        <table className={table.table}>
          <thead>
            <tr>
              <th>Node</th>
              <th>State</th>
              <th>Heard</th>
              <th className={table.num}>Group rank</th>
              <th>Start</th>
              <th className={table.num}>Spent</th>
              <th className={table.num}>Left</th>
              <th className={table.num} title="Torch's own counter">
                Torch's
              </th>
              <th className={classes.act}>
                <span className="visually-hidden">Act</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {job.members.map((member) => (
              <MemberRow key={member.node} job={job} member={member} onFault={mayAct ? setAimed : undefined} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="quiet small">
        Spent counts the failures that began on the node. {job.budget.torch_differs}
        {meeting(job)}
        {job.scaling.why !== "" && ` The number of nodes was ${job.scaling.why}.`}
      </p>
      {aimed !== null && (
        <FaultDialog
          job={job}
          target={{ node: aimed }}
          kind="kill_runner"
          rounds={rounds}
          onClose={() => setAimed(null)}
        />
      )}
    </div>
  );
}

const STARTS: Record<MemberOut["start"], string> = {
  "": "Its runner has not started yet.",
  warm: "Its runner was forked from a process that had imported torch before.",
  cold: "Its runner was started anew: the job has an interpreter or an environment of its own, or nothing was warm.",
};

/** Where the nodes meet, and what it costs to lose that. */
function meeting(job: StandingJob): string {
  const at = job.store_endpoint === null ? "" : ` at ${job.store_endpoint}`;
  if (job.store_host !== null) {
    return ` The rendezvous store runs on ${job.store_host}${at}; when that node is lost, this attempt ends.`;
  }
  return at === "" ? "" : ` The nodes meet by ${job.spec.rdzv_backend}${at}, and none of them hosts it.`;
}

interface RowProps {
  job: StandingJob;
  member: MemberOut;
  /** Undefined: nobody may do anything to it here. */
  onFault: ((node: string) => void) | undefined;
}

function MemberRow({ job, member, onFault }: RowProps) {
  const budget = job.restarts.by_node[member.node];
  const standing = memberStanding(member, job);
  return (
    <Fragment>
      <tr data-member={member.node} data-explained={standing.says !== "" || undefined} className={classes.row}>
        <td>
          {member.node}
          {member.hosts_store && <span className="quiet"> (store host)</span>}
        </td>
        <td>
          <StateWord word={standing.word} look={MEMBER_STATES[standing.word]} />
          {standing.since !== null && (
            <span className="quiet">
              {" "}
              for <Age at={standing.since} />
            </span>
          )}
        </td>
        <td>
          <StateWord word={member.state} look={NODE_STATES[member.state]} />
          {member.state !== "online" && member.silent_s !== null && ` ${formatAge(member.silent_s)}`}
        </td>
        <td className={table.num}>{member.group_rank ?? "–"}</td>
        <td title={STARTS[member.start]}>{member.start || "–"}</td>
        <td className={table.num}>{budget?.charged ?? 0}</td>
        <td className={table.num}>{budget?.remaining ?? job.restarts.max_restarts}</td>
        <td className={table.num}>{budget?.torch_counter ?? 0}</td>
        <td className={classes.act}>
          {onFault !== undefined && member.settled_at === null && (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`Fault on ${member.node}`}
              onClick={() => onFault(member.node)}
            >
              Fault …
            </Button>
          )}
        </td>
      </tr>
      {standing.says !== "" && (
        <tr className={classes.says} data-standing-of={member.node}>
          <td colSpan={COLUMNS}>{standing.says}</td>
        </tr>
      )}
    </Fragment>
  );
}

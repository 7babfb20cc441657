import { Fragment } from "react";
import { Link } from "wouter";
import type { NodeOut } from "@/api";
import { formatBytes, plural } from "@/lib/format";
import { NODE_STATES } from "@/lib/states";
import { Age } from "@/ui/age";
import { StateWord } from "@/ui/state-word";
import table from "@/ui/table.module.css";
import { ClockCell } from "./clock-cell";
import { gpuText, readFacts } from "./facts";
import { SlotsBar } from "./slots-bar";
import classes from "./nodes-page.module.css";

const COLUMNS = 11;

export function NodesTable({ nodes }: { nodes: NodeOut[] }) {
  return (
    <div className={`${table.scroll} live`}>
      <table className={table.table} data-testid="nodes">
        <thead>
          <tr>
            <th>State</th>
            <th>Name</th>
            <th>Slots</th>
            <th>Jobs</th>
            <th className={classes.wide}>Host</th>
            <th className={`${table.num} ${classes.wide}`}>CPUs</th>
            <th className={`${table.num} ${classes.wide}`}>Memory</th>
            <th className={classes.wide}>GPUs</th>
            <th className={classes.wide}>torch</th>
            <th className={`${table.num} ${classes.wide}`}>Clock</th>
            <th className={`${table.num} ${classes.wide}`}>Agent up for</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <Fragment key={node.name}>
              <NodeRow node={node} />
              {node.troubles.map((trouble) => (
                <tr key={trouble} className={classes.trouble} data-trouble-of={node.name}>
                  <td colSpan={COLUMNS}>{trouble}</td>
                </tr>
              ))}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NodeRow({ node }: { node: NodeOut }) {
  const facts = readFacts(node.facts);
  return (
    <tr data-node={node.name} data-silent={node.state !== "online" || undefined} className={classes.row}>
      <td>
        <StateWord word={node.state} look={NODE_STATES[node.state]} />
        {node.state !== "online" && <LastHeard at={node.last_heard_at} />}
        {node.set_aside > 0 && (
          <span className="quiet small" title="They are among the events of their jobs, with the reason.">
            {" "}
            {plural(node.set_aside, "record")} set aside
          </span>
        )}
      </td>
      <td className={table.cut}>{node.name}</td>
      <td>
        <SlotsBar slots={node.slots} free={node.slots_free} />
      </td>
      <td className={table.cut}>
        {node.jobs.length === 0 && <span className="quiet">none</span>}
        {node.jobs.map((job) => (
          <Link key={job.attempt} href={`/jobs/${job.job}`} className={classes.job}>
            {job.name} <span className="quiet">{job.phase}</span>
          </Link>
        ))}
      </td>
      <td className={`${table.cut} ${classes.wide}`} title={facts.addresses.join(", ")}>
        {facts.host || "–"}
      </td>
      <td className={`${table.num} ${classes.wide}`}>{facts.cpus ?? "–"}</td>
      <td className={`${table.num} ${classes.wide}`}>
        {facts.memoryBytes === null ? "–" : formatBytes(facts.memoryBytes)}
      </td>
      <td className={`${table.cut} ${classes.wide}`}>{gpuText(facts)}</td>
      <td className={`mono ${table.cut} ${classes.wide}`} title={facts.python}>
        {facts.torch ?? "not found"}
      </td>
      <td className={`${table.num} ${classes.wide}`}>
        <ClockCell node={node} />
      </td>
      <td className={`${table.num} ${classes.wide}`}>
        {node.agent_started_at === null ? "–" : <Age at={node.agent_started_at} />}
      </td>
    </tr>
  );
}

function LastHeard({ at }: { at: string | null }) {
  if (at === null) return <span className="quiet small"> never heard</span>;
  return (
    <span className="quiet small">
      {" "}
      last heard <Age at={at} suffix=" ago" />
    </span>
  );
}

import { Button } from "@mantine/core";
import { Fragment, useEffect, useRef } from "react";
import { Link } from "wouter";
import type { NodeOut } from "@/api";
import { readEnvironments } from "@/lib/environments";
import { formatBytes, plural } from "@/lib/format";
import { longInterfaces, readInterfaces, shortInterfaces } from "@/lib/interfaces";
import { Age } from "@/ui/age";
import { StateWord } from "@/ui/state-word";
import table from "@/ui/table.module.css";
import { ClockCell } from "./clock-cell";
import { gpuText, readFacts } from "./facts";
import { nodeWord, outOfUse } from "./node-standing";
import { SlotsBar } from "./slots-bar";
import classes from "./nodes-page.module.css";

const COLUMNS = 12;

export type NodeAct = "drain" | "use again";

interface Props {
  nodes: NodeOut[];
  /** The node that somebody came to see. */
  named: string | null;
  /** Undefined: the person may only look. */
  onAct: ((name: string, act: NodeAct) => void) | undefined;
}

export function NodesTable({ nodes, named, onAct }: Props) {
  return (
    <div className={`${table.scroll} live`} tabIndex={0} role="region" aria-label="List of nodes">
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
            {onAct !== undefined && (
              <th className={classes.act}>
                <span className="visually-hidden">Act</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <Fragment key={node.name}>
              <NodeRow node={node} isNamed={node.name === named} onAct={onAct} />
              {node.takes_no_jobs !== "" && (
                <tr className={classes.told} data-told-of={node.name}>
                  <td colSpan={COLUMNS}>{node.takes_no_jobs}</td>
                </tr>
              )}
              {node.troubles.map((trouble) => (
                <tr key={trouble} className={classes.trouble} data-trouble-of={node.name}>
                  <td colSpan={COLUMNS}>{trouble}</td>
                </tr>
              ))}
              {environmentTroubles(node).map((trouble) => (
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

function NodeRow({ node, isNamed, onAct }: { node: NodeOut; isNamed: boolean; onAct: Props["onAct"] }) {
  const facts = readFacts(node.facts);
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isNamed) row.current?.scrollIntoView({ block: "center" });
  }, [isNamed]);
  return (
    <tr
      ref={row}
      aria-selected={isNamed || undefined}
      data-node={node.name}
      data-silent={node.state !== "online" || undefined}
      data-told={node.takes_no_jobs !== "" || undefined}
      className={classes.row}
    >
      <td>
        <StateWord {...nodeWord(node)} />
        {node.state !== "online" && <LastHeard at={node.last_heard_at} />}
        {node.set_aside > 0 && (
          <span className="quiet small" title="They are among the events of their jobs, with the reason.">
            {" "}
            {plural(node.set_aside, "record")} set aside
          </span>
        )}
      </td>
      <td className={table.cut} title={facts.labels}>
        {node.name}
        {facts.labels !== "" && <span className="quiet small"> {facts.labels}</span>}
      </td>
      <td>
        <SlotsBar slots={node.slots} free={node.slots_free} />
      </td>
      <td className={`${table.cut} ${classes.jobs}`}>
        {node.jobs.length === 0 && <span className="quiet">none</span>}
        {node.jobs.map((job) => (
          <Link key={job.attempt} href={`/jobs/${job.job}`} className={classes.job}>
            {job.name} <span className="quiet">{job.phase}</span>
          </Link>
        ))}
      </td>
      <td className={`${table.cut} ${classes.wide}`} title={facts.addresses.join(", ")}>
        {facts.host || "–"}
        <Interfaces facts={node.facts} />
      </td>
      <td className={`${table.num} ${classes.wide}`}>{facts.cpus ?? "–"}</td>
      <td className={`${table.num} ${classes.wide}`}>
        {facts.memoryBytes === null ? "–" : formatBytes(facts.memoryBytes)}
      </td>
      <td className={`${table.cut} ${classes.wide}`}>{gpuText(facts)}</td>
      <td className={`mono ${table.cut} ${classes.wide}`} title={facts.python}>
        {facts.torch ?? "not found"}
        <Environments facts={node.facts} />
      </td>
      <td className={`${table.num} ${classes.wide}`}>
        <ClockCell node={node} />
      </td>
      <td className={`${table.num} ${classes.wide}`}>
        {node.agent_started_at === null ? "–" : <Age at={node.agent_started_at} />}
      </td>
      {onAct !== undefined && (
        <td className={classes.act}>
          <ActButton node={node} onAct={onAct} />
        </td>
      )}
    </tr>
  );
}

/** Network interfaces that lead to other machines; all of them where the pointer rests. */
function Interfaces({ facts }: { facts: NodeOut["facts"] }) {
  const interfaces = readInterfaces(facts);
  if (interfaces.length === 0) return null;
  return (
    <div className={`quiet small ${table.cut}`} title={longInterfaces(interfaces)} data-testid="interfaces">
      {shortInterfaces(interfaces) || "no way out"}
    </div>
  );
}

/** Interpreters that jobs may ask for by name, beside the default one. */
function Environments({ facts }: { facts: NodeOut["facts"] }) {
  const working = readEnvironments(facts).filter(({ trouble }) => trouble === "");
  if (working.length === 0) return null;
  const title = working.map(({ name, path, versions }) => `env:${name}: ${versions}, ${path}`).join("\n");
  return (
    <div className={`quiet small ${table.cut}`} title={title} data-testid="environments">
      {working.map(({ name }) => `env:${name}`).join(", ")}
    </div>
  );
}

function environmentTroubles(node: NodeOut): string[] {
  const found = readEnvironments(node.facts).filter(({ trouble }) => trouble !== "");
  return found.map(({ name, trouble }) => `No job can run in its environment ${name}, which ${trouble}.`);
}

function ActButton({ node, onAct }: { node: NodeOut; onAct: NonNullable<Props["onAct"]> }) {
  const isOut = outOfUse(node) !== null;
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={isOut ? `Use ${node.name} again` : `Drain ${node.name}`}
      onClick={() => onAct(node.name, isOut ? "use again" : "drain")}
    >
      {isOut ? "Use again" : "Drain"}
    </Button>
  );
}

function LastHeard({ at }: { at: string | null }) {
  if (at === null) return <span className={`quiet small ${classes.heard}`}> never heard</span>;
  return (
    <span className={`quiet small ${classes.heard}`}>
      {" "}
      last heard <Age at={at} suffix=" ago" />
    </span>
  );
}

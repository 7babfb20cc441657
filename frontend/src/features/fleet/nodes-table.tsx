import { Link } from "wouter";
import type { NodeOut } from "@/api";
import { formatAge, plural } from "@/lib/format";
import { NODE_STATES } from "@/lib/states";
import { Age } from "@/ui/age";
import { StateWord } from "@/ui/state-word";
import table from "@/ui/table.module.css";
import { readFacts } from "./facts";
import { SlotBar } from "./slot-bar";

export function NodesTable({ nodes }: { nodes: NodeOut[] }) {
  return (
    <div className={`${table.scroll} live`} tabIndex={0} role="region" aria-label="Nodes">
      <table className={table.table}>
        <thead>
          <tr>
            <th>State</th>
            <th>Name</th>
            <th>Slots used</th>
            <th>Jobs</th>
            <th>Host</th>
            <th className={table.num}>CPUs</th>
            <th className={table.num}>Memory</th>
            <th>GPUs</th>
            <th>Torch</th>
            <th>Python</th>
            <th className={table.num}>Joined</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <NodeRow key={node.name} node={node} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NodeRow({ node }: { node: NodeOut }) {
  const facts = readFacts(node.facts);
  return (
    <tr>
      <td>
        <StateWord word={node.state} look={NODE_STATES[node.state]} />
        {node.state !== "online" && <Silence node={node} />}
      </td>
      <td>{node.name}</td>
      <td>
        <SlotBar slots={node.slots} free={node.slots_free} />
      </td>
      <td className={table.cut}>
        {node.jobs.length === 0 && <span className="quiet">none</span>}
        {node.jobs.map((job, index) => (
          <span key={job.attempt} title={`${job.phase}, ${plural(job.slots, "slot")}`}>
            {index > 0 && ", "}
            <Link href={`/jobs/${job.job}`}>{job.name}</Link>
          </span>
        ))}
      </td>
      <td className={table.cut}>{facts.host}</td>
      <td className={table.num}>{facts.cpus}</td>
      <td className={table.num}>{facts.memory}</td>
      <td className={table.cut}>{facts.gpus}</td>
      <td>{facts.torch}</td>
      <td className={table.cut} title={facts.python}>
        {facts.python}
      </td>
      <td className={table.num}>
        <Age at={node.registered_at} suffix=" ago" />
      </td>
    </tr>
  );
}

function Silence({ node }: { node: NodeOut }) {
  if (node.last_heard_at !== null) {
    return (
      <span className="quiet">
        {" "}
        silent for <Age at={node.last_heard_at} />
      </span>
    );
  }
  return <span className="quiet"> {node.silent_s === null ? "never heard" : `silent for ${formatAge(node.silent_s)}`}</span>;
}

import { useDocumentTitle } from "@mantine/hooks";
import { useNodes, useTopic } from "@/api";
import { Empty } from "@/ui/empty";
import { Refused } from "@/ui/refused";
import { NodesTable } from "./nodes-table";

const JOIN = `regroup-agent --redis-url redis://HUB:6379/0 --name ${"$"}(hostname) --data /var/lib/regroup --slots 2`;

/** All machines that run a node agent, live. */
export function NodesPage() {
  useDocumentTitle("Nodes · Regroup");
  useTopic("nodes");
  const nodes = useNodes();
  return (
    <>
      <h1 style={{ marginBottom: 16 }}>Nodes</h1>
      {nodes.error !== null && <Refused error={nodes.error} tried="The list of nodes was asked for." />}
      {nodes.data?.items.length === 0 && (
        <Empty title="No node has joined yet.">
          <p>Each machine that runs a node agent will be a row here. To let a machine join, start this on it:</p>
          <pre tabIndex={0}>{JOIN}</pre>
        </Empty>
      )}
      {nodes.data !== undefined && nodes.data.items.length > 0 && <NodesTable nodes={nodes.data.items} />}
    </>
  );
}

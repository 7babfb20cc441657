import { useDocumentTitle } from "@mantine/hooks";
import { useNodes, useTopic } from "@/api";
import { Refused } from "@/ui/refused";
import { NoNodesYet } from "./no-nodes-yet";
import { NodesTable } from "./nodes-table";
import classes from "./nodes-page.module.css";

/** Every machine that ever joined: is it heard, what runs on it, what is it made of. */
export function NodesPage() {
  useDocumentTitle("Nodes · Regroup");
  useTopic("nodes");
  const nodes = useNodes();
  const items = nodes.data?.items ?? [];
  return (
    <>
      <h1 className={classes.title}>Nodes</h1>
      {nodes.error !== null && <Refused error={nodes.error} tried="The list of nodes was asked for." />}
      {nodes.isSuccess && items.length === 0 && <NoNodesYet />}
      {items.length > 0 && <NodesTable nodes={items} />}
    </>
  );
}

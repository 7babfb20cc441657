import { useDocumentTitle } from "@mantine/hooks";
import { useState } from "react";
import { useMayOperate, useNodes, useTopic, type NodeOut } from "@/api";
import { Refused } from "@/ui/refused";
import { DrainDialog } from "./drain-dialog";
import { NoNodesYet } from "./no-nodes-yet";
import { NodesTable, type NodeAct } from "./nodes-table";
import { UseAgainDialog } from "./use-again-dialog";
import classes from "./nodes-page.module.css";

/** Every machine that ever joined: is it heard, what runs on it, what is it made of. */
export function NodesPage() {
  useDocumentTitle("Nodes · Regroup");
  useTopic("nodes");
  const mayOperate = useMayOperate();
  const nodes = useNodes();
  const [asking, setAsking] = useState<{ name: string; act: NodeAct } | null>(null);
  const items = nodes.data?.items ?? [];
  const asked = items.find((node) => node.name === asking?.name);
  return (
    <>
      <div className={classes.title}>
        <h1>Nodes</h1>
        {!mayOperate && <span className="quiet small">Viewers may look; draining a node needs the role operator.</span>}
      </div>
      {nodes.error !== null && <Refused error={nodes.error} tried="The list of nodes was asked for." />}
      {nodes.isSuccess && items.length === 0 && <NoNodesYet />}
      {items.length > 0 && (
        <NodesTable nodes={items} onAct={mayOperate ? (name, act) => setAsking({ name, act }) : undefined} />
      )}
      {asking !== null && asked !== undefined && (
        <Dialog act={asking.act} node={asked} onClose={() => setAsking(null)} />
      )}
    </>
  );
}

function Dialog({ act, ...props }: { act: NodeAct; node: NodeOut; onClose: () => void }) {
  return act === "drain" ? <DrainDialog {...props} /> : <UseAgainDialog {...props} />;
}

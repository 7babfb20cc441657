import { useDocumentTitle } from "@mantine/hooks";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { useMayOperate, useNodes, useTopic, type NodeOut } from "@/api";
import { Loading } from "@/ui/loading";
import { Refused } from "@/ui/refused";
import { SearchField } from "@/ui/search-field";
import { DrainDialog } from "./drain-dialog";
import { NoNodesYet } from "./no-nodes-yet";
import { NodesTable, type NodeAct } from "./nodes-table";
import { UseAgainDialog } from "./use-again-dialog";
import classes from "./nodes-page.module.css";

/** From here on there is a field to search them. */
const MANY = 8;

/** Every machine that ever joined: is it heard, what runs on it, what is it made of. */
export function NodesPage() {
  useDocumentTitle("Nodes · Regroup");
  useTopic("nodes");
  const mayOperate = useMayOperate();
  const nodes = useNodes();
  const [asking, setAsking] = useState<{ name: string; act: NodeAct } | null>(null);
  const [params, setParams] = useSearchParams();
  const items = nodes.data?.items ?? [];
  const wanted = params.get("q") ?? "";
  const shown = items.filter((node) => node.name.toLowerCase().includes(wanted.trim().toLowerCase()));
  const search = (text: string) =>
    setParams(
      (held) => {
        if (text === "") held.delete("q");
        else held.set("q", text);
        return held;
      },
      { replace: true },
    );
  const asked = items.find((node) => node.name === asking?.name);
  return (
    <>
      <div className={classes.title}>
        <h1>Nodes</h1>
        {(items.length > MANY || wanted !== "") && (
          <SearchField label="Search nodes" placeholder="Search by name" value={wanted} onChange={search} />
        )}
        {!mayOperate && <span className="quiet small">Viewers may look; draining a node needs the role operator.</span>}
      </div>
      {nodes.isLoading && <Loading what="the nodes" />}
      {nodes.error !== null && <Refused error={nodes.error} tried="The list of nodes was asked for." retry={nodes.refetch} />}
      {nodes.isSuccess && items.length === 0 && <NoNodesYet />}
      {items.length > 0 && shown.length === 0 && <p className="quiet">No node has “{wanted}” in its name.</p>}
      {shown.length > 0 && (
        <NodesTable nodes={shown} named={params.get("node")} onAct={mayOperate ? (name, act) => setAsking({ name, act }) : undefined} />
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

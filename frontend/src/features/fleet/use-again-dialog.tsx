import { useUndrain, type NodeOut } from "@/api";
import { ActDialog } from "@/ui/act-dialog";
import { Notice } from "@/ui/notice";

/** Lets a node get jobs again that was drained or set aside. */
export function UseAgainDialog({ node, onClose }: { node: NodeOut; onClose: () => void }) {
  const undrain = useUndrain(node.name);
  return (
    <ActDialog
      act={`Use ${node.name} again`}
      forecast={
        <div>
          <div>{node.takes_no_jobs}</div>
          <div>
            {node.name} gets jobs again. A job that has been told to leave it does leave; one that has not been told stays.
          </div>
        </div>
      }
      asked={undrain}
      onAct={() => undrain.mutate()}
      tried={`${node.name} was to be used again.`}
      onClose={onClose}
      takesReason={false}
    >
      <Notice tone="grey">
        {node.takes_no_jobs === "" ? `${node.name} gets jobs again.` : `Asked. So far it gets none: ${node.takes_no_jobs}`}
      </Notice>
    </ActDialog>
  );
}

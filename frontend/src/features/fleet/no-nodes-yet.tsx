import { Empty } from "@/ui/empty";
import classes from "./nodes-page.module.css";

/** How a machine joins. */
export function NoNodesYet() {
  return (
    <Empty title="No node has joined yet.">
      <p>
        Each machine that runs the node agent will be a row here: whether it is heard, its worker slots, and the jobs
        on it. This is all that a machine needs to join:
      </p>
      <pre className={classes.command} tabIndex={0}>
        regroup-agent --redis-url redis://… --name node-a --data /var/lib/regroup --slots gpus
      </pre>
    </Empty>
  );
}

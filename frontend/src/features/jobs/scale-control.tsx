import { useState } from "react";
import { Button } from "@mantine/core";
import { useMayOperate, type StandingJob, type RoundOut } from "@/api";
import { plural } from "@/lib/format";
import { ENDED } from "@/lib/states";
import { useActs } from "@/ui/acts";
import { ScaleDialog } from "./scale-dialog";
import classes from "./scale.module.css";

/** One node fewer or more, beside the number of nodes. Who may not act is told so in the header. */
export function ScaleControl({ job, rounds }: { job: StandingJob; rounds: RoundOut[] }) {
  const mayOperate = useMayOperate();
  const [start, setStart] = useState<number | null>(null);
  const { wanted, min, max } = job.nodes;
  const step = (target: number) => ({
    size: "compact-xs",
    variant: "default",
    disabled: job.scaling.fixed !== "" || target < min || target > max,
    onClick: () => setStart(target),
  });
  const canScale = mayOperate && !ENDED.has(job.state) && job.scaling.fixed === "" && min < max;
  useActs(() => (canScale ? [{ id: "scale", says: "Scale to another number of nodes", run: () => setStart(wanted) }] : []));
  if (!mayOperate) return null;
  return (
    <>
      {!ENDED.has(job.state) && (
        <span className={classes.control}>
          <Button {...step(wanted - 1)} aria-label={`Scale down to ${plural(wanted - 1, "node")}`}>
            −
          </Button>
          <Button {...step(wanted + 1)} aria-label={`Scale up to ${plural(wanted + 1, "node")}`}>
            +
          </Button>
        </span>
      )}
      {start !== null && <ScaleDialog job={job} rounds={rounds} start={start} onClose={() => setStart(null)} />}
    </>
  );
}

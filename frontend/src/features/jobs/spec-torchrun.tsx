import { Button, CopyButton } from "@mantine/core";
import { useJobCheck, useTorchrun, type JobOut } from "@/api";
import { Refused } from "@/ui/refused";
import { Line } from "./launch/copy-torchrun";
import { Settings } from "./launch/settings";
import classes from "./launch/launch.module.css";

/** The job as a torchrun line, what such a line cannot say, and the settings that hold. */
export function SpecTorchrun({ job }: { job: JobOut }) {
  const line = useTorchrun(job.id);
  const check = useJobCheck(job.id);
  return (
    <div className={classes.copied}>
      <CopyButton value={line.data?.command ?? ""}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="default" onClick={copy} disabled={line.data === undefined}>
            {copied ? "Copied" : "Copy as torchrun"}
          </Button>
        )}
      </CopyButton>
      {line.error !== null && <Refused error={line.error} tried="The torchrun line was asked for." retry={line.refetch} />}
      {line.data !== undefined && <Line written={line.data} />}
      {check.data !== undefined && <p className={classes.notes}>{check.data.sentence}</p>}
      {check.error !== null && <Refused error={check.error} tried="The settings were asked for." retry={check.refetch} />}
      {check.data !== undefined && <Settings settings={check.data.effective} />}
    </div>
  );
}

import { Button, CopyButton, Group } from "@mantine/core";
import { useJobCheck, useTorchrun, type StandingJob } from "@/api";
import { Refused } from "@/ui/refused";
import { Line } from "./launch/copy-torchrun";
import { Settings } from "./launch/settings";
import classes from "./launch/launch.module.css";

/** The job as a torchrun line, what such a line cannot say, and the settings that hold. */
export function SpecTorchrun({ job, json }: { job: StandingJob; json: string }) {
  const line = useTorchrun(job.id);
  const check = useJobCheck(job.id);
  return (
    <div className={classes.copied}>
      <Group gap={8}>
        <Copy text={line.data?.command} says="Copy as torchrun" />
        <Copy text={json} says="Copy as JSON" />
      </Group>
      {line.error !== null && <Refused error={line.error} tried="The torchrun line was asked for." retry={line.refetch} />}
      {line.data !== undefined && <Line written={line.data} />}
      {check.data !== undefined && <p className={classes.notes}>{check.data.sentence}</p>}
      {check.error !== null && <Refused error={check.error} tried="The settings were asked for." retry={check.refetch} />}
      {check.data !== undefined && <Settings settings={check.data.effective} />}
    </div>
  );
}

/** Of no use while the text is not there yet. */
function Copy({ text, says }: { text: string | undefined; says: string }) {
  return (
    <CopyButton value={text ?? ""}>
      {({ copied, copy }) => (
        <Button size="compact-xs" variant="default" onClick={copy} disabled={text === undefined}>
          {copied ? "Copied" : says}
        </Button>
      )}
    </CopyButton>
  );
}

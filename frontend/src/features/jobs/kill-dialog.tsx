import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { useKill, type JobOut, type RoundOut, type WorkerOut } from "@/api";
import { Dialog } from "@/ui/dialog";
import { Refused } from "@/ui/refused";
import { forecastKill } from "./kill-forecast";
import { KillProgress } from "./kill-progress";

interface Props {
  job: JobOut;
  /** As the person saw it: a worker that has been replaced since is not hit. */
  worker: WorkerOut;
  rounds: RoundOut[];
  onClose: () => void;
}

/** Asks once, with what will happen; then shows it happen, in the same place. */
export function KillDialog({ job, worker, rounds, onClose }: Props) {
  const [seen] = useState({ job, worker });
  const [reason, setReason] = useState("");
  const kill = useKill(job.id);
  const act = `Kill rank ${seen.worker.rank}`;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { rank, round, pid } = seen.worker;
    kill.mutate({ kind: "kill_worker", rank, signal: "SIGKILL", reason, if: { round, pid, attempt: seen.job.attempt_id } });
  };
  return (
    <Dialog onClose={onClose} title={act} size="lg">
      <form onSubmit={submit}>
        <Stack>
          <div>
            {forecastKill(seen.job, seen.worker).map((sentence) => (
              <div key={sentence}>{sentence}</div>
            ))}
          </div>
          {!kill.isSuccess && (
            <TextInput
              label="Reason"
              description="Kept with your name in the job's history."
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
              data-autofocus
            />
          )}
          {kill.error !== null && <Refused error={kill.error} tried={`No signal was sent to rank ${seen.worker.rank}.`} />}
          {kill.isSuccess && <KillProgress command={kill.data} job={job} seen={seen.worker} rounds={rounds} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {kill.isSuccess || kill.isError ? "Close" : "Cancel"}
            </Button>
            {!kill.isSuccess && !kill.isError && (
              <Button type="submit" color="red.9" loading={kill.isPending}>
                {act}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

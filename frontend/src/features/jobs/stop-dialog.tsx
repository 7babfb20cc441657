import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { useStop, type JobOut } from "@/api";
import { plural } from "@/lib/format";
import { Notice } from "@/ui/notice";
import { Refused } from "@/ui/refused";

/** Asks once before a job is stopped, says what will stop, and follows it until it has. */
export function StopDialog({ job, onClose }: { job: JobOut; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const stop = useStop(job.id);
  const act = `Stop ${job.name}`;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    stop.mutate(reason);
  };
  return (
    <Modal opened onClose={onClose} title={act}>
      <form onSubmit={submit}>
        <Stack>
          <div>{forecast(job)}</div>
          {!stop.isSuccess && (
            <TextInput
              label="Reason"
              description="Kept with your name in the job's history."
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
              data-autofocus
            />
          )}
          {stop.error !== null && <Refused error={stop.error} tried={`${job.name} was to be stopped.`} />}
          {stop.isSuccess && (
            <Notice tone="grey">
              Asked to stop. The job is now {job.state}. {job.state_reason}
            </Notice>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {stop.isSuccess ? "Close" : "Cancel"}
            </Button>
            {!stop.isSuccess && (
              <Button type="submit" color="red.9" loading={stop.isPending}>
                {act}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function forecast(job: JobOut): string {
  if (job.members.length === 0) return "The job has not been placed on any node: it will not start.";
  const grace = job.spec.shutdown_timeout;
  return (
    `Ends ${plural(job.workers_alive, "worker")} on ${plural(job.members.length, "node")}: SIGTERM first, ` +
    `SIGKILL after ${grace} s to what still runs. Steps since the last checkpoint are lost. A stopped job does not start again.`
  );
}

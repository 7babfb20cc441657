import { Refusal, useCommand, type CommandOut, type JobOut, type RoundOut, type WorkerOut } from "@/api";
import { Notice } from "@/ui/notice";
import { Steps, type Step } from "@/ui/steps";

interface Props {
  command: CommandOut;
  job: JobOut;
  seen: WorkerOut;
  rounds: RoundOut[];
}

/** A kill on its way: each step with its time, as the node and the job report it. */
export function KillProgress({ command: asked, job, seen, rounds }: Props) {
  const query = useCommand(asked.id);
  const command = query.data ?? asked;
  const isRefused = command.is_final && command.state !== "done";
  return (
    <div data-testid="kill-progress">
      <Steps steps={steps(command, job, seen, rounds)} />
      {isRefused && (
        <Notice>
          The kill is {command.state}: {command.reason}
        </Notice>
      )}
      {query.error instanceof Refusal && query.error.status !== 0 && <Notice>{query.error.sentence}</Notice>}
    </div>
  );
}

function steps(command: CommandOut, job: JobOut, seen: WorkerOut, rounds: RoundOut[]): Step[] {
  const isGone = command.state === "done";
  const formed = rounds.find((round) => round.attempt === job.attempt && round.number > seen.round);
  const isFormed = isGone && (formed !== undefined || (job.round ?? 0) > seen.round);
  const first: Step[] = [
    { says: "sent", at: command.sent_at },
    { says: `${command.node} has it`, at: command.received_at },
  ];
  if (command.is_final && !isGone) return first;
  const number = formed?.number ?? (isFormed ? job.round : seen.round + 1);
  const found: Step[] = [
    ...first,
    { says: `pid ${seen.pid} is gone`, at: isGone ? command.ended_at : null },
    { says: formedText(number, formed), at: isFormed ? formed?.formed_at : null },
  ];
  if (isFormed && job.resumed_step !== null) found.push({ says: `resumed from step ${job.resumed_step}`, at: undefined });
  return found;
}

function formedText(number: number | null, round: RoundOut | undefined): string {
  return round === undefined ? `round ${number} is formed` : `round ${number} is formed, world size ${round.world_size}`;
}

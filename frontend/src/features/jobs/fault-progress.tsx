import { Refusal, useFaultsOf, type CommandOut, type FaultOut, type RoundOut } from "@/api";
import { Notice } from "@/ui/notice";
import { Steps } from "@/ui/steps";
import { faultSteps } from "./fault-steps";

interface Props {
  job: number;
  commands: CommandOut[];
  /** Of the workers that were aimed at, by rank. */
  pids: ReadonlyMap<number, number>;
  rounds: RoundOut[];
}

/** Faults on their way, and afterwards the forecast beside what happened. */
export function FaultProgress({ job, commands, pids, rounds }: Props) {
  const query = useFaultsOf(
    job,
    commands.map(({ id }) => id),
  );
  const faults = query.data ?? [];
  const refused = faults.filter(({ is_final: isFinal, state }) => isFinal && state !== "done");
  return (
    <div data-testid="fault-progress">
      <Steps steps={faultSteps(faults, pids, rounds)} />
      {faults.length === 0 && query.error === null && <p className="quiet">Asking the hub how far it is …</p>}
      <Outcome faults={faults} />
      {refused.map((fault) => (
        <Notice key={fault.id}>
          {fault.state === "refused" ? "Refused" : "Not done"}: {fault.says}
        </Notice>
      ))}
      {query.error instanceof Refusal && query.error.status !== 0 && <Notice>{query.error.sentence}</Notice>}
    </div>
  );
}

function Outcome({ faults }: { faults: FaultOut[] }) {
  const held = faults.find(({ outcome }) => outcome !== null);
  const open = faults.find(({ is_final: isFinal, begun_at: begun }) => !isFinal && begun !== null);
  return (
    <p role="status" className="quiet" data-testid="fault-outcome">
      {held?.outcome?.sentence ?? open?.says ?? ""}
    </p>
  );
}

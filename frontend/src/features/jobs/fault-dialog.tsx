import { useState } from "react";
import { useFault, useFaultPreview, type FaultPreview, type StandingJob, type RoundOut } from "@/api";
import { ActDialog } from "@/ui/act-dialog";
import { Notice } from "@/ui/notice";
import { Refused } from "@/ui/refused";
import { FaultFields } from "./fault-fields";
import { FaultProgress } from "./fault-progress";
import { actOf, bodyOf, draftOf, type FaultKind, type Target } from "./fault-words";
import classes from "./fault-dialog.module.css";

interface Props {
  job: StandingJob;
  target: Target;
  kind: FaultKind;
  rounds: RoundOut[];
  onClose: () => void;
}

/** Asks once, with the hub's forecast; then shows it happen and holds the forecast against it, in the same place. */
export function FaultDialog({ job, target, kind, rounds, onClose }: Props) {
  const [seen] = useState({ target, attempt: job.attempt_id });
  const [draft, setDraft] = useState(() => draftOf(kind));
  const fault = useFault(job.id);
  const isAsking = fault.isIdle || fault.isError;
  const preview = useFaultPreview(job.id, bodyOf(draft, seen.target, seen.attempt), isAsking);
  const pids = "workers" in seen.target ? seen.target.workers.map(({ rank, pid }) => [rank, pid] as const) : [];
  return (
    <ActDialog
      act={actOf(draft.kind, seen.target)}
      isDanger
      forecast={
        <>
          <FaultFields draft={draft} ofNode={"node" in seen.target} onChange={setDraft} />
          <div className={classes.forecast} data-testid="fault-forecast" aria-live="polite">
            {preview.error !== null && <Refused error={preview.error} tried="The forecast was asked for." />}
            {preview.error === null && preview.data !== undefined && <Forecast preview={preview.data} />}
            {preview.isPending && <p className="quiet">Asking the hub what will happen …</p>}
          </div>
        </>
      }
      asked={fault}
      onAct={(reason) => fault.mutate(bodyOf(draft, seen.target, seen.attempt, reason))}
      tried="Nothing was done."
      onClose={onClose}
    >
      {fault.data !== undefined && (
        <>
          {preview.data !== undefined && <p className="quiet">Forecast: {preview.data.forecast.sentence}</p>}
          <FaultProgress job={job.id} commands={fault.data} pids={new Map(pids)} rounds={ofAttempt(rounds, job)} />
        </>
      )}
    </ActDialog>
  );
}

function ofAttempt(rounds: RoundOut[], job: StandingJob): RoundOut[] {
  return rounds.filter(({ attempt }) => attempt === job.attempt);
}

function Forecast({ preview: { forecast, proves, warnings } }: { preview: FaultPreview }) {
  return (
    <>
      <p>{forecast.sentence}</p>
      <p className="quiet">{proves}</p>
      {warnings.map((warning) => (
        <Notice key={warning} tone="amber">
          {warning}
        </Notice>
      ))}
    </>
  );
}

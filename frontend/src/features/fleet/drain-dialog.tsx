import { useState } from "react";
import { useDrain, useDrainForecast, type DrainForecast, type NodeOut } from "@/api";
import { ActDialog } from "@/ui/act-dialog";
import { Notice } from "@/ui/notice";
import { Refused } from "@/ui/refused";
import { Steps, type Step } from "@/ui/steps";
import classes from "./drain-dialog.module.css";

/** Says what will become of each job on the node, drains it, and shows how far that is. */
export function DrainDialog({ node, onClose }: { node: NodeOut; onClose: () => void }) {
  const drain = useDrain(node.name);
  const forecast = useDrainForecast(node.name, drain.isIdle || drain.isError);
  const [told, setTold] = useState<DrainForecast | null>(null);
  const act = (reason: string) => {
    setTold(forecast.data ?? null);
    drain.mutate(reason);
  };
  return (
    <ActDialog
      act={`Drain ${node.name}`}
      isDanger
      forecast={
        <>
          {forecast.data !== undefined && <Forecast forecast={forecast.data} />}
          {forecast.isPending && <p className="quiet">Asking the hub what will become of its jobs …</p>}
          {forecast.error !== null && <Refused error={forecast.error} tried="The forecast was asked for." />}
        </>
      }
      asked={drain}
      onAct={act}
      tried={`${node.name} was to be drained.`}
      onClose={onClose}
      isDisabled={forecast.data === undefined}
    >
      <div data-testid="drain-progress">
        <Steps steps={steps(node, told)} />
        {node.state !== "online" && !node.is_drained && (
          <Notice tone="amber">{node.name} is not heard: what runs there is told to leave when it is.</Notice>
        )}
      </div>
    </ActDialog>
  );
}

function Forecast({ forecast }: { forecast: DrainForecast }) {
  return (
    <div data-testid="drain-forecast">
      {forecast.says}
      {forecast.jobs.length > 0 && (
        <ul className={classes.jobs}>
          {forecast.jobs.map((job) => (
            <li key={`${job.job} ${job.effect}`} data-effect={job.effect}>
              {job.says}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** A job has left when nothing of it holds a slot there; the node is drained when that is so of all. */
function steps(node: NodeOut, told: DrainForecast | null): Step[] {
  const held = new Set(node.jobs.map((job) => job.job));
  const jobs = (told?.jobs ?? []).map((job): Step => ({
    says: `job ${job.job} ${job.name} has left ${node.name}`,
    at: node.draining_since === null || held.has(job.job) ? null : undefined,
  }));
  return [
    { says: `${node.name} gets no more jobs`, at: node.draining_since },
    ...jobs,
    { says: "drained: nothing of any job is left", at: node.is_drained ? undefined : null },
  ];
}

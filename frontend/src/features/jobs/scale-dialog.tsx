import { Button } from "@mantine/core";
import { useState } from "react";
import { useNodes, useScale, useTopic, type StandingJob, type RoundOut } from "@/api";
import { serverNow } from "@/lib/clock";
import { plural } from "@/lib/format";
import { ENDED } from "@/lib/states";
import { ActDialog } from "@/ui/act-dialog";
import { Notice } from "@/ui/notice";
import { Steps } from "@/ui/steps";
import { forecastScale } from "./scale-forecast";
import { scaleSteps, type Asked } from "./scale-steps";
import classes from "./scale.module.css";

interface Props {
  job: StandingJob;
  rounds: RoundOut[];
  /** The number of nodes to begin with. */
  start: number;
  onClose: () => void;
}

/** Asks for another number of nodes with what that will do, and follows it by evidence. */
export function ScaleDialog({ job, rounds, start, onClose }: Props) {
  useTopic("nodes");
  const nodes = useNodes().data?.items ?? [];
  const [target, setTarget] = useState(start);
  const [asked, setAsked] = useState<Asked | null>(null);
  const scale = useScale(job.id);
  const act = (reason: string) => {
    setAsked({ target, before: job, at: new Date(serverNow()).toISOString() });
    scale.mutate({ nodes: target, reason });
  };
  return (
    <ActDialog
      act={`Scale to ${plural(target, "node")}`}
      forecast={
        <>
          <Stepper job={job} target={target} onChange={setTarget} />
          <div data-testid="scale-forecast" aria-live="polite">
            {forecastScale(job, nodes, target).map((sentence) => (
              <div key={sentence}>{sentence}</div>
            ))}
          </div>
        </>
      }
      asked={scale}
      onAct={act}
      tried={`${job.name} keeps ${plural(job.nodes.wanted, "node")}.`}
      onClose={onClose}
      isDisabled={target === job.nodes.wanted}
    >
      {asked !== null && <Progress job={job} rounds={rounds} asked={asked} />}
    </ActDialog>
  );
}

function Stepper({ job, target, onChange }: { job: StandingJob; target: number; onChange: (target: number) => void }) {
  const { min, max, wanted } = job.nodes;
  return (
    <div className={classes.stepper}>
      <Button
        variant="default"
        aria-label="One node fewer"
        disabled={target <= min}
        onClick={() => onChange(target - 1)}
      >
        −
      </Button>
      <output className={classes.target}>
        <b>{target}</b> of {min} to {plural(max, "node")}
        {target !== wanted && <span className="quiet">, {wanted} wanted now</span>}
      </output>
      <Button variant="default" aria-label="One node more" disabled={target >= max} onClick={() => onChange(target + 1)}>
        +
      </Button>
    </div>
  );
}

function Progress({ job, rounds, asked }: { job: StandingJob; rounds: RoundOut[]; asked: Asked }) {
  const isReplaced = job.nodes.wanted !== asked.target && job.nodes.wanted !== asked.before.nodes.wanted;
  return (
    <div data-testid="scale-progress">
      <Steps steps={scaleSteps(job, rounds, asked)} />
      {isReplaced && <Notice tone="amber">Another number is wanted since: {job.scaling.why}.</Notice>}
      {ENDED.has(job.state) && <Notice tone="grey">The job is {job.state}. {job.state_reason}</Notice>}
    </div>
  );
}

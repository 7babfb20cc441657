import { Button, NumberInput, Textarea, TextInput } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { useLocation } from "wouter";
import { Refusal, useLaunch, type JobIn } from "@/api";
import { ArgsError } from "@/lib/args";
import { Refused } from "@/ui/refused";
import { EnvRows } from "./env-rows";
import { ChecksTable } from "./launch/checks-table";
import { CopyTorchrun } from "./launch/copy-torchrun";
import { DifferenceTable } from "./launch/difference-table";
import { LaunchCheck } from "./launch/launch-check";
import { LaunchCode } from "./launch/launch-code";
import { LaunchLabels } from "./launch/launch-labels";
import { LaunchPlacing } from "./launch/launch-placing";
import { PasteBox } from "./launch/paste-box";
import { PlacementPreview } from "./launch/placement-preview";
import { pasted, readable } from "./launch/readable";
import { fromSpec, toSpec, type Draft } from "./launch-draft";
import { LaunchEvidence } from "./launch-evidence";
import { number, text, type Faults, type Fields } from "./launch-fields";
import { LaunchMetrics } from "./launch-metrics";
import { LaunchStalls } from "./launch-stalls";
import { LaunchStart } from "./launch-start";
import { LaunchTorchrun } from "./launch-torchrun";
import classes from "./launch-form.module.css";

interface Props {
  start: JobIn | null;
  /** The job that is launched again. */
  again?: number | undefined;
}

export function LaunchForm({ start, again }: Props) {
  const [draft, setDraft] = useState<Draft>(() => fromSpec(start));
  const [unreadable, setUnreadable] = useState<string | null>(null);
  const launch = useLaunch();
  const [, go] = useLocation();
  const faults = faultsOf(launch.error);
  const [began] = useState<JobIn>(() => toSpec(fromSpec(start)));
  const current = () => readable(draft);
  const set = (change: Partial<Draft>) => setDraft((held) => ({ ...held, ...change }));
  const fields: Fields = { draft, faults, set };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    try {
      setUnreadable(null);
      launch.mutate(toSpec(draft), { onSuccess: (job) => go(`/jobs/${job.id}`) });
    } catch (error) {
      if (!(error instanceof ArgsError)) throw error;
      setUnreadable(error.message);
    }
  };
  return (
    <form className={classes.form} onSubmit={submit} aria-label="Launch a job">
      <h1>Launch a job</h1>
      <PasteBox onSpec={(spec, name) => setDraft((held) => fromSpec(pasted(held, spec, name)))} />
      <LaunchCheck draft={draft} />
      {again !== undefined && <DifferenceTable job={again} was={began} is={current() ?? began} />}
      <TextInput label="name" description="Left empty: the name of the script" {...text(fields, "name")} />
      <LaunchLabels fields={fields} />
      <div className={classes.row}>
        <TextInput label="nnodes" description="2, or MIN:MAX" {...text(fields, "nnodes")} />
        <NumberInput label="nodes" description="wanted now; empty: all free" {...number(fields, "nodes")} />
        <TextInput label="nproc_per_node" description="a number, gpu, cpu or auto" {...text(fields, "nproc_per_node")} />
        <NumberInput label="max_restarts" description="for each node" {...number(fields, "max_restarts")} />
      </div>
      <LaunchCode fields={fields} />
      <Textarea
        label="args"
        description="as in a shell: blanks separate, quotes keep together, nothing is expanded"
        autosize
        minRows={2}
        classNames={{ input: "mono" }}
        {...text(fields, "args")}
        error={unreadable ?? faults["args"]}
      />
      <EnvRows rows={draft.env} onChange={(env) => set({ env })} error={faults["env"] ?? faults["secret_env"]} />
      <LaunchStart fields={fields} />
      <LaunchPlacing
        draft={draft.placing}
        faults={faults}
        set={(change) => setDraft((held) => ({ ...held, placing: { ...held.placing, ...change } }))}
      />
      <LaunchMetrics fields={fields} />
      <LaunchTorchrun fields={fields} />
      <LaunchEvidence fields={fields} />
      <LaunchStalls fields={fields} />
      <PlacementPreview job={current()} />
      <ChecksTable asked={current} />
      {launch.error !== null && <Refused error={launch.error} tried="The job was not launched." />}
      <div className={classes.act}>
        <Button type="submit" loading={launch.isPending}>
          Launch
        </Button>
        <CopyTorchrun spec={current} />
      </div>
    </form>
  );
}

function faultsOf(error: Error | null): Faults {
  if (!(error instanceof Refusal)) return {};
  const faults = error.answer.faults ?? [];
  return Object.fromEntries(faults.map((fault) => [fault.where.split(".")[0], `${fault.message} ${fault.what_to_do ?? ""}`.trim()]));
}

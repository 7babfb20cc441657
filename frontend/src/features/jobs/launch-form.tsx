import { Button, NumberInput, Textarea, TextInput } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { useLocation } from "wouter";
import { Refusal, useLaunch, type JobIn } from "@/api";
import { ArgsError } from "@/lib/args";
import { Refused } from "@/ui/refused";
import { EnvRows } from "./env-rows";
import { fromSpec, readNproc, toSpec, type Draft } from "./launch-draft";
import { number, text, type Faults, type Fields } from "./launch-fields";
import { launchSentence } from "./launch-sentence";
import { LaunchStart } from "./launch-start";
import { LaunchTorchrun } from "./launch-torchrun";
import classes from "./launch-form.module.css";

export function LaunchForm({ start }: { start: JobIn | null }) {
  const [draft, setDraft] = useState<Draft>(() => fromSpec(start));
  const [unreadable, setUnreadable] = useState<string | null>(null);
  const launch = useLaunch();
  const [, go] = useLocation();
  const faults = faultsOf(launch.error);
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
      <p className={classes.sentence}>{launchSentence(asked(draft))}</p>
      <TextInput label="name" description="Left empty: the name of the script" {...text(fields, "name")} />
      <div className={classes.row}>
        <TextInput label="nnodes" description="2, or MIN:MAX" {...text(fields, "nnodes")} />
        <NumberInput label="nodes" description="wanted now; empty: all free" {...number(fields, "nodes")} />
        <TextInput label="nproc_per_node" description="a number, gpu, cpu or auto" {...text(fields, "nproc_per_node")} />
        <NumberInput label="max_restarts" description="for each node" {...number(fields, "max_restarts")} />
      </div>
      <div className={classes.row}>
        <TextInput label="script" description="its path on the nodes" {...text(fields, "script")} />
        <TextInput label="module" description="instead of a script, as python -m" {...text(fields, "module")} />
      </div>
      <Textarea
        label="args"
        description="as in a shell: blanks separate, quotes keep together, nothing is expanded"
        autosize
        minRows={2}
        classNames={{ input: "mono" }}
        {...text(fields, "args")}
        error={unreadable ?? faults["args"]}
      />
      <EnvRows rows={draft.env} onChange={(env) => set({ env })} error={faults["env"]} />
      <LaunchStart fields={fields} />
      <LaunchTorchrun fields={fields} />
      {launch.error !== null && <Refused error={launch.error} tried="The job was not launched." />}
      <div className={classes.act}>
        <Button type="submit" loading={launch.isPending}>
          Launch
        </Button>
      </div>
    </form>
  );
}

function faultsOf(error: Error | null): Faults {
  if (!(error instanceof Refusal)) return {};
  const faults = error.answer.faults ?? [];
  return Object.fromEntries(faults.map((fault) => [fault.where.split(".")[0], `${fault.message} ${fault.what_to_do ?? ""}`.trim()]));
}

function asked(draft: Draft) {
  return {
    nnodes: draft.nnodes,
    nodes: draft.nodes,
    nproc: readNproc(draft.nproc_per_node),
    maxRestarts: draft.max_restarts ?? 0,
    spares: draft.spares ?? 0,
  };
}

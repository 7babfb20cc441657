import { Button, Checkbox, NativeSelect, NumberInput, Textarea, TextInput } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { useLocation } from "wouter";
import { Refusal, useLaunch, type JobIn } from "@/api";
import { ArgsError } from "@/lib/args";
import { Refused } from "@/ui/refused";
import { EnvRows } from "./env-rows";
import { fromSpec, toSpec, type Draft } from "./launch-draft";
import { launchSentence } from "./launch-sentence";
import classes from "./launch-form.module.css";

export function LaunchForm({ start }: { start: JobIn | null }) {
  const [draft, setDraft] = useState<Draft>(() => fromSpec(start));
  const [unreadable, setUnreadable] = useState<string | null>(null);
  const launch = useLaunch();
  const [, go] = useLocation();
  const faults = faultsOf(launch.error);
  const set = (change: Partial<Draft>) => setDraft((held) => ({ ...held, ...change }));
  const text = (name: TextField) => ({
    value: draft[name],
    error: faults[name],
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
  });
  const number = (name: NumberField) => ({
    value: draft[name] ?? "",
    error: faults[name],
    min: 0,
    allowDecimal: false,
    hideControls: true,
    onChange: (value: string | number) => set({ [name]: value === "" ? null : Number(value) }),
  });
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
      <TextInput label="name" description="Left empty: the name of the script" {...text("name")} />
      <div className={classes.row}>
        <TextInput label="nnodes" description="2, or MIN:MAX" {...text("nnodes")} />
        <NumberInput label="nodes" description="wanted now; empty: all free" {...number("nodes")} />
        <NumberInput label="nproc_per_node" description="workers on each node" {...number("nproc_per_node")} />
        <NumberInput label="max_restarts" description="for each node" {...number("max_restarts")} />
      </div>
      <div className={classes.row}>
        <TextInput label="script" description="its path on the nodes" {...text("script")} />
        <TextInput label="module" description="instead of a script, as python -m" {...text("module")} />
      </div>
      <Textarea
        label="args"
        description="as in a shell: blanks separate, quotes keep together, nothing is expanded"
        autosize
        minRows={2}
        classNames={{ input: "mono" }}
        {...text("args")}
        error={unreadable ?? faults["args"]}
      />
      <EnvRows rows={draft.env} onChange={(env) => set({ env })} error={faults["env"]} />
      <details className={classes.more} open={startsOpen(faults)}>
        <summary>Start, interpreter, folder and rendezvous</summary>
        <div className={classes.row}>
          <NativeSelect
            label="start"
            description={STARTS[draft.start]}
            data={Object.keys(STARTS)}
            {...text("start")}
          />
          <TextInput
            label="preload"
            description="modules imported before a worker is forked"
            disabled={draft.start !== "preload"}
            {...text("preload")}
          />
        </div>
        <div className={classes.row}>
          <TextInput label="python" description="empty: the node agent's" {...text("python")} />
          <TextInput label="workdir" description="empty: the bundle of the attempt" {...text("workdir")} />
        </div>
        <div className={classes.row}>
          <NativeSelect
            label="rdzv_backend"
            description={BACKENDS[draft.rdzv_backend] ?? "not one of those known here"}
            data={backendsWith(draft.rdzv_backend)}
            disabled={draft.standalone}
            {...text("rdzv_backend")}
          />
          <TextInput
            label="rdzv_endpoint"
            description={isEtcd(draft) ? "HOST[:PORT],… of your etcd" : "HOST[:PORT]; empty: picked"}
            disabled={draft.standalone}
            {...text("rdzv_endpoint")}
          />
          <TextInput label="rdzv_conf" description="key=value,key=value" {...text("rdzv_conf")} />
          <NumberInput label="shutdown_timeout" description="s from SIGTERM to SIGKILL" {...number("shutdown_timeout")} />
        </div>
        <Checkbox
          className={classes.standalone}
          label="standalone"
          description="one node that meets itself on localhost"
          checked={draft.standalone}
          error={faults["standalone"]}
          onChange={(event) => set(standalone(event.currentTarget.checked))}
        />
      </details>
      {launch.error !== null && <Refused error={launch.error} tried="The job was not launched." />}
      <div className={classes.act}>
        <Button type="submit" loading={launch.isPending}>
          Launch
        </Button>
      </div>
    </form>
  );
}

type TextField = {
  [K in keyof Draft]: Draft[K] extends string ? K : never;
}[keyof Draft];
type NumberField = "nodes" | "nproc_per_node" | "max_restarts" | "shutdown_timeout";

const TUCKED_AWAY = [
  "start",
  "preload",
  "python",
  "workdir",
  "rdzv_backend",
  "rdzv_endpoint",
  "rdzv_conf",
  "shutdown_timeout",
  "standalone",
];

const STARTS: Record<string, string> = {
  preload: "workers fork with torch imported",
  exec: "each worker starts anew",
};

const BACKENDS: Record<string, string> = {
  c10d: "a store on one of the nodes",
  "etcd-v3": "an etcd of yours, 3.4 or newer",
  static: "fixed nodes, ranks in their order",
};

/** A spec that was launched before may name a backend by another of its names. */
function backendsWith(named: string): string[] {
  const known = Object.keys(BACKENDS);
  return known.includes(named) ? known : [...known, named];
}

function isEtcd(draft: Draft): boolean {
  return draft.rdzv_backend.startsWith("etcd");
}

function standalone(on: boolean): Partial<Draft> {
  return on ? { standalone: true, rdzv_backend: "c10d", rdzv_endpoint: "" } : { standalone: false };
}

function startsOpen(faults: Record<string, string>): boolean {
  return TUCKED_AWAY.some((field) => field in faults);
}

/** What the hub found wrong, by field. */
function faultsOf(error: Error | null): Record<string, string> {
  if (!(error instanceof Refusal)) return {};
  const faults = error.answer.faults ?? [];
  return Object.fromEntries(faults.map((fault) => [fault.where.split(".")[0], `${fault.message} ${fault.what_to_do ?? ""}`.trim()]));
}

function asked(draft: Draft) {
  return {
    nnodes: draft.nnodes,
    nodes: draft.nodes,
    nproc: draft.nproc_per_node ?? 1,
    maxRestarts: draft.max_restarts ?? 0,
  };
}

import { Checkbox, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import type { Draft } from "./launch-draft";
import { number, onOff, text, type Faults, type Fields } from "./launch-fields";
import classes from "./launch-form.module.css";
import { LaunchPython } from "./launch-python";
import { LaunchInterface } from "./launch/launch-interface";

/** How and where workers start and meet, and what stands in for what is lost. */
export function LaunchStart({ fields }: { fields: Fields }) {
  const { draft } = fields;
  return (
    <details className={classes.more} open={startsOpen(fields.faults)}>
      <summary>Start, interpreter, folder, network, rendezvous, spares and time limit</summary>
      <div className={classes.row}>
        <NativeSelect
          label="start"
          description={STARTS[draft.start]}
          data={Object.keys(STARTS)}
          {...text(fields, "start")}
        />
        <TextInput
          label="preload"
          description="modules imported before a worker is forked"
          disabled={draft.start !== "preload"}
          {...text(fields, "preload")}
        />
      </div>
      <div className={classes.row}>
        <LaunchPython fields={fields} />
        <TextInput
          label="workdir"
          description={draft.code === "" ? "empty: the bundle of the attempt" : "empty: the folder of the uploaded code"}
          {...text(fields, "workdir")}
        />
        <LaunchInterface fields={fields} />
      </div>
      <div className={classes.row}>
        <NativeSelect
          label="rdzv_backend"
          description={BACKENDS[draft.rdzv_backend] ?? "not one of those known here"}
          data={backendsWith(draft.rdzv_backend)}
          disabled={draft.standalone}
          {...text(fields, "rdzv_backend")}
        />
        <TextInput
          label="rdzv_endpoint"
          description={isEtcd(draft) ? "HOST[:PORT],… of your etcd" : "HOST[:PORT]; empty: picked"}
          disabled={draft.standalone}
          {...text(fields, "rdzv_endpoint")}
        />
        <TextInput label="rdzv_conf" description="key=value,key=value" {...text(fields, "rdzv_conf")} />
      </div>
      <div className={classes.row}>
        <NumberInput label="spares" description="nodes more, that stand by" {...number(fields, "spares")} />
        <NumberInput
          label="max_membership_restarts"
          description="in an attempt; empty: as many as come"
          {...number(fields, "max_membership_restarts")}
        />
        <NumberInput
          label="max_relaunches"
          description="new attempts after a lost store host"
          {...number(fields, "max_relaunches")}
        />
        <TextInput
          label="time_limit"
          description="of running, such as 2h or 01:30:00; empty: none"
          {...text(fields, "time_limit")}
        />
      </div>
      <Checkbox
        className={classes.switch}
        label="standalone"
        description="one node that meets itself on localhost"
        {...onOff(fields, "standalone", (on) => (on ? { rdzv_backend: "c10d", rdzv_endpoint: "" } : {}))}
      />
      <Checkbox
        className={classes.switch}
        label="shrink_on_gpu_loss"
        description="a worker whose GPU is gone is not started again: its node goes on with one fewer"
        {...onOff(fields, "shrink_on_gpu_loss")}
      />
    </details>
  );
}

const TUCKED_AWAY = [
  "start",
  "preload",
  "python",
  "workdir",
  "interface",
  "rdzv_backend",
  "rdzv_endpoint",
  "rdzv_conf",
  "spares",
  "max_membership_restarts",
  "max_relaunches",
  "time_limit",
  "standalone",
  "shrink_on_gpu_loss",
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

function startsOpen(faults: Faults): boolean {
  return TUCKED_AWAY.some((field) => field in faults);
}

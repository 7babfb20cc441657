import { NativeSelect, NumberInput, TextInput } from "@mantine/core";
import type { Faults } from "../launch-fields";
import type { PlacingDraft } from "./placing-draft";
import classes from "../launch-form.module.css";

interface Props {
  draft: PlacingDraft;
  faults: Faults;
  set: (change: Partial<PlacingDraft>) => void;
}

/** On which nodes the job may run, when it has its turn, and whether its nodes are checked first. */
export function LaunchPlacing({ draft, faults, set }: Props) {
  const text = (name: "nodes_selector" | "node_names" | "gpu_model" | "checkpoint_dir") => ({
    label: name,
    value: draft[name],
    error: faults[name],
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
  });
  const number = (name: "priority" | "gpus_per_node") => ({
    label: name,
    value: draft[name] ?? "",
    error: faults[name],
    allowDecimal: false,
    hideControls: true,
    onChange: (value: string | number) => set({ [name]: value === "" || value === "-" ? null : Number(value) }),
  });
  return (
    <details className={classes.more} open={NAMES.some((name) => name in faults)}>
      <summary>Nodes, priority, checkpoint folder and checks</summary>
      <div className={classes.row}>
        <TextInput description="these alone; empty: any" {...text("node_names")} />
        <TextInput description="labels, such as disk=nvme" {...text("nodes_selector")} />
        <TextInput description="a part of its name, such as H100" {...text("gpu_model")} />
        <NumberInput description="on each node, at least" min={0} {...number("gpus_per_node")} />
      </div>
      <div className={classes.row}>
        <NumberInput description="−100 to 100; a point is 6 minutes" {...number("priority")} />
        <NativeSelect
          label="placement"
          description={PLACEMENTS[draft.placement]}
          data={Object.keys(PLACEMENTS)}
          value={draft.placement}
          onChange={(event) => set({ placement: event.currentTarget.value as PlacingDraft["placement"] })}
        />
        <TextInput description="shared by all nodes" {...text("checkpoint_dir")} />
        <NativeSelect
          label="checks"
          description={CHECKS[draft.checks]}
          data={Object.keys(CHECKS)}
          value={draft.checks}
          onChange={(event) => set({ checks: event.currentTarget.value as PlacingDraft["checks"] })}
        />
      </div>
    </details>
  );
}

const NAMES = ["node_names", "nodes_selector", "gpu_model", "gpus_per_node", "priority", "checkpoint_dir", "checks"];

const PLACEMENTS: Record<PlacingDraft["placement"], string> = {
  spread: "the emptiest nodes first",
  pack: "the fullest nodes first",
};

const CHECKS: Record<PlacingDraft["checks"], string> = {
  skip: "launch at once",
  warn: "check first, launch anyway",
  require: "launch only if none fails",
};

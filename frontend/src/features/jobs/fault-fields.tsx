import { NativeSelect, NumberInput } from "@mantine/core";
import { KIND_WORDS, NODE_KINDS, SIGNALS, WORKER_KINDS, lasts, type Draft, type FaultKind } from "./fault-words";
import classes from "./fault-dialog.module.css";

interface Props {
  draft: Draft;
  ofNode: boolean;
  onChange: (draft: Draft) => void;
}

/** Which fault, and how much of it. */
export function FaultFields({ draft, ofNode, onChange }: Props) {
  const kinds = ofNode ? NODE_KINDS : WORKER_KINDS;
  const number = (name: "seconds" | "share") => ({
    value: draft[name],
    onChange: (value: string | number) => onChange({ ...draft, [name]: String(value) }),
    hideControls: true,
  });
  return (
    <div className={classes.fields}>
      <NativeSelect
        label="Fault"
        className={classes.kind}
        data={kinds.map((kind) => ({ value: kind, label: KIND_WORDS[kind] }))}
        value={draft.kind}
        onChange={(event) => onChange({ ...draft, kind: event.currentTarget.value as FaultKind })}
      />
      {draft.kind === "kill_worker" && (
        <NativeSelect
          label="Signal"
          data={SIGNALS}
          value={draft.signal}
          onChange={(event) => onChange({ ...draft, signal: event.currentTarget.value })}
        />
      )}
      {lasts(draft.kind) && <NumberInput label="Seconds" {...number("seconds")} />}
      {draft.kind === "slow_worker" && <NumberInput label="Runs, % of the time" {...number("share")} />}
    </div>
  );
}

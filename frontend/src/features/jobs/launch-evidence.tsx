import { NativeSelect, NumberInput, Textarea } from "@mantine/core";
import { seconds, text, type Faults, type Fields } from "./launch-fields";
import classes from "./launch-form.module.css";

/** What is kept of a round that fails, and the commands that each node runs then and at the end. */
export function LaunchEvidence({ fields }: { fields: Fields }) {
  return (
    <details className={classes.more} open={isFaulty(fields.faults)}>
      <summary>Evidence, and commands after a failure</summary>
      <div className={classes.row}>
        <NativeSelect
          label="evidence"
          description={LEVELS[fields.draft.evidence]}
          data={Object.keys(LEVELS)}
          {...text(fields, "evidence")}
        />
        <NumberInput label="hook_timeout_s" description="seconds that each command has" {...seconds(fields, "hook_timeout_s")} />
      </div>
      <div className={classes.row}>
        <Textarea
          label="on_failure"
          description="on each node after a round that failed; an empty line begins another command"
          autosize
          classNames={{ input: "mono" }}
          {...text(fields, "on_failure")}
        />
        <Textarea
          label="on_end"
          description="on each node at the end; an empty line begins another command"
          autosize
          classNames={{ input: "mono" }}
          {...text(fields, "on_end")}
        />
      </div>
    </details>
  );
}

const LEVELS: Record<string, string> = {
  fast: "stacks by signal, lines, error files: milliseconds",
  full: "py-spy as well: up to 2 s at each restart",
  off: "nothing is kept",
};

function isFaulty(faults: Faults): boolean {
  return ["evidence", "hook_timeout_s", "on_failure", "on_end"].some((field) => field in faults);
}

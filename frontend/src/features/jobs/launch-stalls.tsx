import { NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { number, seconds, text, type Faults, type Fields } from "./launch-fields";
import classes from "./launch-form.module.css";

/** When a pause is a stall, and what is done then. */
export function LaunchStalls({ fields }: { fields: Fields }) {
  return (
    <details className={classes.more} open={isFaulty(fields.faults)}>
      <summary>Stalls</summary>
      <div className={classes.row}>
        <NumberInput
          label="stall_after_s"
          description="seconds without a step; empty: by the job's pace, 0: never"
          {...seconds(fields, "stall_after_s")}
        />
        <NativeSelect label="on_stall" description={POLICIES[fields.draft.on_stall]} data={Object.keys(POLICIES)} {...text(fields, "on_stall")} />
        <NumberInput label="stall_restarts_per_hour" description="at most" {...number(fields, "stall_restarts_per_hour")} />
      </div>
      <div className={classes.row}>
        <TextInput
          label="stall_log_regex"
          description="where no steps are reported: what healthy lines match; empty: any line"
          classNames={{ input: "mono" }}
          {...text(fields, "stall_log_regex")}
        />
        <NumberInput label="stall_log_every_s" description="such a line comes within; empty: no rule" {...seconds(fields, "stall_log_every_s")} />
        <NumberInput label="stall_log_start_s" description="not before so many seconds" {...seconds(fields, "stall_log_start_s")} />
      </div>
    </details>
  );
}

const POLICIES: Record<string, string> = {
  notify: "it is said, nothing is done",
  restart: "the rank that is behind is killed",
};

const NAMES = ["stall_after_s", "on_stall", "stall_restarts_per_hour", "stall_log_regex", "stall_log_every_s", "stall_log_start_s"];

function isFaulty(faults: Faults): boolean {
  return NAMES.some((field) => field in faults);
}

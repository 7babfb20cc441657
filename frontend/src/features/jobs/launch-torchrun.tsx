import { Checkbox, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { number, onOff, seconds, text, type Faults, type Fields } from "./launch-fields";
import classes from "./launch-form.module.css";

/** The flags of torchrun that few jobs need. */
export function LaunchTorchrun({ fields }: { fields: Fields }) {
  const { set } = fields;
  const numa = text(fields, "numa_binding");
  return (
    <details className={classes.more} open={TUCKED_AWAY.some((field) => field in fields.faults)}>
      <summary>All of torchrun&apos;s options</summary>
      <div className={classes.row}>
        <NumberInput label="shutdown_timeout" description="s from SIGTERM to SIGKILL" {...seconds(fields, "shutdown_timeout")} />
        <NumberInput
          label="exit_barrier_timeout"
          description="s to wait for others; empty: as they run"
          {...seconds(fields, "exit_barrier_timeout")}
        />
        <NumberInput label="monitor_interval" description="s between looks at workers" {...seconds(fields, "monitor_interval")} />
        <TextInput label="role" description="ROLE_NAME of the workers" {...text(fields, "role")} />
      </div>
      <div className={classes.row}>
        <TextInput label="tee" description="to the runner's log too: 3, or 0:3,1:1" {...text(fields, "tee")} />
        <TextInput label="local_ranks_filter" description="whom tee copies; empty: all" {...text(fields, "local_ranks_filter")} />
        <TextInput
          label="log_line_prefix_template"
          description="of what tee copies, such as [${rank}]"
          {...text(fields, "log_line_prefix_template")}
        />
        <TextInput label="redirects" description="no effect: logs are always kept" {...text(fields, "redirects")} />
        <NumberInput
          label="log_max_bytes"
          description="kept of each stream on its node"
          thousandSeparator=" "
          {...number(fields, "log_max_bytes")}
        />
      </div>
      <div className={classes.row}>
        <TextInput
          label="duplicate_stdout_filters"
          description="texts with commas between: such lines of tee go to a file of the round"
          {...text(fields, "duplicate_stdout_filters")}
        />
        <TextInput
          label="duplicate_stderr_filters"
          description="the same for stderr"
          {...text(fields, "duplicate_stderr_filters")}
        />
      </div>
      <div className={classes.row}>
        <TextInput label="signals_to_handle" description="as workers are told" {...text(fields, "signals_to_handle")} />
        <NativeSelect
          label="event_log_handler"
          description="console: torch's events, logged"
          data={["null", "console", "dynamic_rendezvous"]}
          {...text(fields, "event_log_handler")}
        />
        <NativeSelect
          label="start_method"
          description="no effect: see start"
          data={["spawn", "fork", "forkserver"]}
          {...text(fields, "start_method")}
        />
        <NativeSelect
          label="numa_binding"
          description="near the worker's GPU; start: exec"
          data={[{ value: "", label: "none" }, "node", "socket", "exclusive", "core-complex"]}
          {...numa}
          onChange={(event) => set({ numa_binding: event.currentTarget.value, ...executed(event.currentTarget.value !== "") })}
        />
      </div>
      <Checkbox
        className={classes.switch}
        label="no_python"
        description="the script is a program of its own; start: exec"
        {...onOff(fields, "no_python", executed)}
      />
      <Checkbox
        className={classes.switch}
        label="virtual_local_rank"
        description="each worker has LOCAL_RANK 0 and sees its own GPU alone"
        {...onOff(fields, "virtual_local_rank")}
      />
    </details>
  );
}

const TUCKED_AWAY: (keyof Faults)[] = [
  "shutdown_timeout",
  "exit_barrier_timeout",
  "monitor_interval",
  "role",
  "tee",
  "local_ranks_filter",
  "log_line_prefix_template",
  "redirects",
  "log_max_bytes",
  "duplicate_stdout_filters",
  "duplicate_stderr_filters",
  "signals_to_handle",
  "event_log_handler",
  "start_method",
  "numa_binding",
  "no_python",
  "virtual_local_rank",
];

/** Neither a program nor what numactl starts can be forked. */
function executed(on: boolean) {
  return on ? { start: "exec" } : {};
}

import { Textarea } from "@mantine/core";
import { text, type Fields } from "./launch-fields";
import classes from "./launch-form.module.css";

/** How progress is read from what a script prints, where the script does not report it. */
export function LaunchMetrics({ fields }: { fields: Fields }) {
  return (
    <details className={classes.more} open={"log_metrics" in fields.faults || fields.draft.log_metrics !== ""}>
      <summary>Metrics from the log</summary>
      <Textarea
        label="log_metrics"
        description="Regular expressions, one a line, for a script that does not call regroup_report. Named groups are
          the metrics; step is needed, total tells the time left: step (?P<step>\d+)/(?P<total>\d+).*loss (?P<loss>[\d.]+)"
        autosize
        minRows={2}
        classNames={{ input: "mono" }}
        {...text(fields, "log_metrics")}
      />
    </details>
  );
}

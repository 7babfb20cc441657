import { Textarea } from "@mantine/core";
import { text, type Fields } from "../launch-fields";
import classes from "../launch-form.module.css";

/** What people find the job by later, and what they should know of it. */
export function LaunchLabels({ fields }: { fields: Fields }) {
  return (
    <div className={classes.row}>
      <Textarea
        label="labels"
        description="NAME=VALUE, one a line: lists can be narrowed by them"
        autosize
        minRows={1}
        maxRows={6}
        {...text(fields, "labels")}
      />
      <Textarea label="notes" description="shown on the job's page" autosize minRows={1} maxRows={6} {...text(fields, "notes")} />
    </div>
  );
}

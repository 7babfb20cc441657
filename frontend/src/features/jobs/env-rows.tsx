import { ActionIcon, Button, TextInput } from "@mantine/core";
import type { EnvRow } from "./launch-draft";
import classes from "./launch-form.module.css";

interface Props {
  rows: EnvRow[];
  onChange: (rows: EnvRow[]) => void;
  error: string | undefined;
}

/** Environment variables, a row each. */
export function EnvRows({ rows, onChange, error }: Props) {
  const change = (at: number, part: Partial<EnvRow>) =>
    onChange(rows.map((row, i) => (i === at ? { ...row, ...part } : row)));
  return (
    <fieldset className={classes.env}>
      <legend>env</legend>
      {rows.map((row, i) => (
        <div className={classes.envRow} key={i}>
          <TextInput
            aria-label={`Name of variable ${i + 1}`}
            placeholder="NAME"
            value={row.name}
            onChange={(event) => change(i, { name: event.currentTarget.value })}
          />
          <TextInput
            aria-label={`Value of variable ${i + 1}`}
            placeholder="value"
            value={row.value}
            onChange={(event) => change(i, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="default"
            size={34}
            aria-label={`Remove variable ${i + 1}`}
            onClick={() => onChange(rows.filter((_, at) => at !== i))}
          >
            ×
          </ActionIcon>
        </div>
      ))}
      {error !== undefined && <p className={classes.error}>{error}</p>}
      <Button variant="default" size="xs" onClick={() => onChange([...rows, { name: "", value: "" }])}>
        Add a variable
      </Button>
    </fieldset>
  );
}

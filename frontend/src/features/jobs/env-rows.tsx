import { ActionIcon, Button, Checkbox, TextInput } from "@mantine/core";
import { looksSecret } from "@/lib/secret-names";
import type { EnvRow } from "./launch-draft";
import classes from "./launch-form.module.css";

interface Props {
  rows: EnvRow[];
  onChange: (rows: EnvRow[]) => void;
  error: string | undefined;
}

/** Environment variables, a row each. Values of secret ones are not shown while they are typed either. */
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
            type={isSecret(row) ? "password" : "text"}
            autoComplete={isSecret(row) ? "new-password" : "off"}
            value={row.value}
            onChange={(event) => change(i, { value: event.currentTarget.value })}
          />
          <Checkbox
            label="secret"
            aria-label={`Variable ${i + 1} is secret`}
            title={looksSecret(row.name) ? "Its name looks secret, so that it is hidden and sealed anyway." : undefined}
            checked={isSecret(row)}
            disabled={looksSecret(row.name)}
            onChange={(event) => change(i, { secret: event.currentTarget.checked })}
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
      <Button variant="default" size="xs" onClick={() => onChange([...rows, { name: "", value: "", secret: false }])}>
        Add a variable
      </Button>
    </fieldset>
  );
}

function isSecret(row: EnvRow): boolean {
  return row.secret || looksSecret(row.name);
}

import { Button, CopyButton } from "@mantine/core";
import type { JobOut } from "@/api";
import classes from "./spec-tab.module.css";

/** The job as it was launched, in torchrun's words. Secret-looking values are masked by the hub. */
export function SpecTab({ job }: { job: JobOut }) {
  const text = JSON.stringify(job.spec, null, 2);
  return (
    <div>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="default" onClick={copy}>
            {copied ? "Copied" : "Copy as JSON"}
          </Button>
        )}
      </CopyButton>
      <dl className={classes.spec}>
        {Object.entries(job.spec).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="mono small">{shown(value)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function shown(value: unknown): string {
  if (value === null || value === "") return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.join(" ");
  if (typeof value !== "object") return String(value);
  const pairs = Object.entries(value as Record<string, unknown>);
  return pairs.length === 0 ? "–" : pairs.map(([name, each]) => `${name}=${String(each)}`).join("\n");
}

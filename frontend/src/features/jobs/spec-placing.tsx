import type { JobOut } from "@/api";
import { Notice } from "@/ui/notice";
import { BESIDE } from "./job-defaults";
import classes from "./spec-tab.module.css";

/** Where the job was to run and what its nodes said before, as far as anything was asked for. */
export function SpecPlacing({ placing }: { placing: JobOut["placing"] }) {
  const { checks_said: said, ...asked } = placing;
  const usual: Record<string, unknown> = BESIDE;
  const told = Object.entries(asked).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(usual[name]));
  return (
    <>
      {said !== undefined && said.length > 0 && (
        <Notice tone="amber">
          Launched although checks failed: {said.join(" ")}
        </Notice>
      )}
      {told.length > 0 && (
        <dl className={classes["spec"]} aria-label="Placing">
          {told.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="mono small">{shown(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.join(" ");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}=${String(each)}`)
    .join("\n");
}

/** What a form changes in the job that it began with, field by field. */
import type { JobIn } from "@/api";
import { looksSecret } from "@/lib/secret-names";

export interface Difference {
  field: string;
  was: string;
  is: string;
}

const NOT_TOLD = new Set(["copy_of", "checks"]);

export function diffOf(was: JobIn, is: JobIn): Difference[] {
  const before = hidden(was) as Record<string, unknown>;
  const after = hidden(is) as Record<string, unknown>;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !NOT_TOLD.has(name));
  return names.flatMap((name) => differences(name, before[name], after[name]));
}

const MASK = "••••••";

/** What was typed for a secret variable is not shown here either. */
function hidden(job: JobIn): JobIn {
  const isSecret = (name: string) => looksSecret(name) || (job.secret_env ?? []).includes(name);
  const shown = ([name, value]: [string, string]) =>
    [name, isSecret(name) && value !== "" && value !== MASK ? `${MASK} typed here` : value] as const;
  return { ...job, env: Object.fromEntries(Object.entries(job.env ?? {}).map(shown)) };
}

/** Of names with values, only those that differ are told. */
function differences(field: string, was: unknown, is: unknown): Difference[] {
  if (isRecord(was) && isRecord(is)) {
    const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    return names.flatMap((name) => differences(`${field} ${name}`, was[name], is[name]));
  }
  const [before, after] = [shown(was), shown(is)];
  return before === after ? [] : [{ field, was: before, is: after }];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.join(" ");
  return String(value);
}

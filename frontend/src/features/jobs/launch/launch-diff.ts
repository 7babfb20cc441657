/** What a form changes in the job that it began with, field by field. */
import type { JobIn } from "@/api";

export interface Difference {
  field: string;
  was: string;
  is: string;
}

const NOT_TOLD = new Set(["copy_of", "checks"]);

export function diffOf(was: JobIn, is: JobIn): Difference[] {
  const before = was as Record<string, unknown>;
  const after = is as Record<string, unknown>;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !NOT_TOLD.has(name));
  return names.flatMap((name) => differences(name, before[name], after[name]));
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

/** Interpreters that nodes offer by name, read with care: an older node agent tells of none. */
import { plural } from "./format";

export interface Environment {
  name: string;
  path: string;
  /** "Python 3.11.9, torch 2.13.0", as far as it is known. */
  versions: string;
  /** Why no job can run with it. Empty: nothing is known against it. */
  trouble: string;
}

export interface Offered {
  /** What a job's `python` says to ask for it. */
  value: string;
  /** "2 nodes", those on which it works. */
  says: string;
}

export function readEnvironments(facts: Record<string, unknown>): Environment[] {
  const told: unknown = facts["environments"];
  return Array.isArray(told) ? told.filter(isRecord).map(read) : [];
}

/** What nodes offer together, by name. */
export function offeredBy(nodes: readonly { facts: Record<string, unknown> }[]): Offered[] {
  const counts = new Map<string, number>();
  const working = nodes.flatMap(({ facts }) => readEnvironments(facts)).filter(({ trouble }) => trouble === "");
  for (const { name } of working) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => ({ value: `env:${name}`, says: plural(count, "node") }));
}

function read(one: Record<string, unknown>): Environment {
  const python = text(one["python"]);
  const torch = text(one["torch"]);
  const trouble = text(one["trouble"]);
  const known = [python && `Python ${python}`, torch && `torch ${torch}`].filter((part) => part !== "");
  return { name: text(one["name"]), path: text(one["path"]), versions: known.join(", ") || "versions not known", trouble };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

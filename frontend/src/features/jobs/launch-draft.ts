/** The launch form's own copy of a spec: texts as they are typed. */
import type { JobIn } from "@/api";
import { joinArgs, splitArgs } from "@/lib/args";
import { BESIDE } from "./job-defaults";
import { fromPlacing, toPlacing, type PlacingDraft } from "./launch/placing-draft";
import { DEFAULTS } from "./spec-defaults";

export interface EnvRow {
  name: string;
  value: string;
  /** Marked so; one whose name looks secret is so anyway. */
  secret: boolean;
}

/** Fields that are typed as a text and sent as one. */
const TEXTS = [
  "nnodes",
  "rdzv_backend",
  "rdzv_endpoint",
  "start",
  "start_method",
  "role",
  "signals_to_handle",
  "event_log_handler",
  "redirects",
  "tee",
  "local_ranks_filter",
  "evidence",
  "stall_log_regex",
  "on_stall",
] as const;
/** Texts that are left out when they are empty. */
const OPTIONAL_TEXTS = ["script", "module", "code", "workdir", "python", "numa_binding", "time_limit", "interface"] as const;
const NUMBERS = ["spares", "max_restarts", "max_relaunches", "monitor_interval", "shutdown_timeout", "log_max_bytes", "hook_timeout_s", "stall_log_start_s", "stall_restarts_per_hour"] as const;
const OPTIONAL_NUMBERS = ["nodes", "max_membership_restarts", "exit_barrier_timeout", "stall_after_s", "stall_log_every_s"] as const;
const SWITCHES = ["standalone", "shrink_on_gpu_loss", "no_python", "virtual_local_rank"] as const;
/** Fields that are typed in a way of their own. */
const OWN = [
  "name",
  "args",
  "nproc_per_node",
  "preload",
  "rdzv_conf",
  "log_line_prefix_template",
  "duplicate_stdout_filters",
  "duplicate_stderr_filters",
  "log_metrics",
  "on_failure",
  "on_end",
  "labels",
  "notes",
] as const;

export type TextField = (typeof TEXTS | typeof OPTIONAL_TEXTS | typeof OWN)[number];
export type NumberField = (typeof NUMBERS | typeof OPTIONAL_NUMBERS)[number];
export type SwitchField = (typeof SWITCHES)[number];
export type Draft = Record<TextField, string> &
  Record<NumberField, number | null> &
  Record<SwitchField, boolean> & {
    env: EnvRow[];
    placing: PlacingDraft;
    /** What it began with: fields that no input shows are launched as they were. */
    given: Required<JobIn>;
  };

/** An empty form offers three restarts, since without one the first failure ends a job. */
const OFFERED: Required<JobIn> = { ...DEFAULTS, ...BESIDE, max_restarts: 3 };

export function fromSpec(given: JobIn | null): Draft {
  const spec: Required<JobIn> = { ...OFFERED, ...given };
  return {
    ...pick(TEXTS, (field) => spec[field]),
    ...pick(OPTIONAL_TEXTS, (field) => spec[field] ?? ""),
    ...pick(NUMBERS, (field): number | null => spec[field]),
    ...pick(OPTIONAL_NUMBERS, (field) => spec[field] ?? null),
    ...pick(SWITCHES, (field) => spec[field]),
    name: spec.name,
    args: joinArgs(spec.args),
    nproc_per_node: String(spec.nproc_per_node),
    preload: spec.preload.join(", "),
    rdzv_conf: joinConf(spec.rdzv_conf),
    log_line_prefix_template: spec.log_line_prefix_template ?? "",
    duplicate_stdout_filters: joinFilters(spec.duplicate_stdout_filters),
    duplicate_stderr_filters: joinFilters(spec.duplicate_stderr_filters),
    log_metrics: spec.log_metrics.join("\n"),
    on_failure: joinCommands(spec.on_failure),
    on_end: joinCommands(spec.on_end),
    env: Object.entries(spec.env).map(([name, value]) => ({ name, value, secret: spec.secret_env.includes(name) })),
    labels: Object.entries(spec.labels)
      .map(([name, value]) => `${name}=${value}`)
      .join("\n"),
    notes: spec.notes,
    placing: fromPlacing(spec),
    given: spec,
  };
}

/** Throws an `ArgsError` for args that cannot be split. What the hub must judge is sent as it stands. */
export function toSpec(draft: Draft): JobIn {
  return {
    ...draft.given,
    ...toPlacing(draft.placing),
    ...pick(TEXTS, (field) => draft[field].trim()),
    ...pick(OPTIONAL_TEXTS, (field) => draft[field].trim() || null),
    ...pick(NUMBERS, (field) => draft[field] ?? DEFAULTS[field]),
    ...pick(OPTIONAL_NUMBERS, (field) => draft[field]),
    ...pick(SWITCHES, (field) => draft[field]),
    name: draft.name.trim(),
    args: splitArgs(draft.args),
    nproc_per_node: readNproc(draft.nproc_per_node),
    preload: draft.preload.split(/[\s,]+/).filter((name) => name),
    rdzv_conf: splitConf(draft.rdzv_conf),
    log_line_prefix_template: draft.log_line_prefix_template || null,
    duplicate_stdout_filters: splitFilters(draft.duplicate_stdout_filters),
    duplicate_stderr_filters: splitFilters(draft.duplicate_stderr_filters),
    log_metrics: draft.log_metrics.split("\n").filter((pattern) => pattern.trim()),
    on_failure: splitCommands(draft.on_failure),
    on_end: splitCommands(draft.on_end),
    env: Object.fromEntries(draft.env.filter((row) => row.name.trim()).map((row) => [row.name.trim(), row.value])),
    secret_env: [...new Set(draft.env.filter((row) => row.secret && row.name.trim()).map((row) => row.name.trim()))],
    labels: splitLabels(draft.labels),
    notes: draft.notes,
  };
}

function pick<Field extends string, Value>(
  fields: readonly Field[],
  value: (field: Field) => Value,
): Record<Field, Value> {
  return Object.fromEntries(fields.map((field) => [field, value(field)])) as Record<Field, Value>;
}

/** A number, or the word that stands for one. */
export function readNproc(text: string): number | string {
  const word = text.trim();
  return /^\d+$/.test(word) ? Number(word) : word || 1;
}

function joinConf(conf: Record<string, string>): string {
  return Object.entries(conf)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

/** "a=1,b=2" as torchrun reads it; a part without "=" keeps an empty value, which the hub then names. */
export function splitConf(text: string): Record<string, string> {
  const parts = text.split(",").filter((part) => part.trim());
  return Object.fromEntries(
    parts.map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [part.trim(), ""] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    }),
  );
}

/** Commands for a shell, each of which may have several lines: an empty one begins the next. */
function joinCommands(commands: string[]): string {
  return commands.join("\n\n");
}

export function splitCommands(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((command) => command.trim())
    .filter((command) => command);
}

function joinFilters(filters: string[]): string {
  return filters.map((filter) => filter.replaceAll(",", ",,")).join(",");
}

/** "a,b" as torchrun reads it: two commas are one that belongs to the text. */
export function splitFilters(text: string): string[] {
  if (text === "") return [];
  return text
    .replaceAll(",,", "\0")
    .split(",")
    .map((filter) => filter.replaceAll("\0", ","));
}

/** "team=vision" a line; a line without "=" has an empty value. */
export function splitLabels(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim());
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf("=");
      return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

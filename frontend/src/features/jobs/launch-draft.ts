/** The launch form's own copy of a spec: texts as they are typed. */
import type { JobIn } from "@/api";
import { joinArgs, splitArgs } from "@/lib/args";

export interface EnvRow {
  name: string;
  value: string;
}

export interface Draft {
  name: string;
  nnodes: string;
  nodes: number | null;
  nproc_per_node: number | null;
  max_restarts: number | null;
  script: string;
  module: string;
  args: string;
  env: EnvRow[];
  python: string;
  workdir: string;
  start: string;
  preload: string;
  standalone: boolean;
  rdzv_backend: string;
  rdzv_endpoint: string;
  rdzv_conf: string;
  shutdown_timeout: number | null;
}

const PRELOAD = ["torch", "torch.distributed"];

export function fromSpec(spec: JobIn | null): Draft {
  return {
    name: spec?.name ?? "",
    nnodes: spec?.nnodes ?? "1",
    nodes: spec?.nodes ?? null,
    nproc_per_node: spec?.nproc_per_node ?? 1,
    max_restarts: spec?.max_restarts ?? 3,
    script: spec?.script ?? "",
    module: spec?.module ?? "",
    args: joinArgs(spec?.args ?? []),
    env: Object.entries(spec?.env ?? {}).map(([name, value]) => ({ name, value })),
    python: spec?.python ?? "",
    workdir: spec?.workdir ?? "",
    start: spec?.start ?? "preload",
    preload: (spec?.preload ?? PRELOAD).join(", "),
    standalone: spec?.standalone ?? false,
    rdzv_backend: spec?.rdzv_backend ?? "c10d",
    rdzv_endpoint: spec?.rdzv_endpoint ?? "",
    rdzv_conf: joinConf(spec?.rdzv_conf ?? {}),
    shutdown_timeout: spec?.shutdown_timeout ?? 30,
  };
}

/** Throws an `ArgsError` for args that cannot be split. What the hub must judge is sent as it stands. */
export function toSpec(draft: Draft): JobIn {
  return {
    name: draft.name.trim(),
    nnodes: draft.nnodes.trim(),
    nodes: draft.nodes,
    nproc_per_node: draft.nproc_per_node ?? 1,
    max_restarts: draft.max_restarts ?? 0,
    script: draft.script.trim() || null,
    module: draft.module.trim() || null,
    args: splitArgs(draft.args),
    env: Object.fromEntries(draft.env.filter((row) => row.name.trim()).map((row) => [row.name.trim(), row.value])),
    python: draft.python.trim() || null,
    workdir: draft.workdir.trim() || null,
    rdzv_backend: draft.rdzv_backend.trim(),
    rdzv_endpoint: draft.rdzv_endpoint.trim(),
    rdzv_conf: splitConf(draft.rdzv_conf),
    start: draft.start,
    preload: draft.preload.split(/[\s,]+/).filter((name) => name),
    standalone: draft.standalone,
    monitor_interval: 0.1,
    shutdown_timeout: draft.shutdown_timeout ?? 30,
  };
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

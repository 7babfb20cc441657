/** What a field of a spec is when it is left out: torchrun's own defaults, where torchrun has it. */
import type { SpecIn } from "@/api";

export const DEFAULTS: Required<SpecIn> = {
  nnodes: "1",
  nodes: null,
  nproc_per_node: 1,
  spares: 0,
  max_restarts: 0,
  max_membership_restarts: null,
  max_relaunches: 3,
  shrink_on_gpu_loss: false,
  standalone: false,
  rdzv_backend: "c10d",
  rdzv_endpoint: "",
  rdzv_conf: {},
  script: null,
  module: null,
  no_python: false,
  args: [],
  env: {},
  workdir: null,
  python: null,
  start: "preload",
  preload: ["torch", "torch.distributed"],
  start_method: "spawn",
  role: "default",
  monitor_interval: 0.1,
  shutdown_timeout: 30,
  exit_barrier_timeout: null,
  signals_to_handle: "SIGTERM,SIGINT,SIGHUP,SIGQUIT",
  event_log_handler: "null",
  redirects: "0",
  tee: "0",
  local_ranks_filter: "",
  log_line_prefix_template: null,
  duplicate_stdout_filters: [],
  duplicate_stderr_filters: [],
  virtual_local_rank: false,
  numa_binding: null,
  evidence: "fast",
  on_failure: [],
  on_end: [],
  hook_timeout_s: 60,
  log_max_bytes: 2 ** 30,
  log_metrics: [],
  stall_after_s: null,
  stall_log_regex: "",
  stall_log_start_s: 60,
  stall_log_every_s: null,
  on_stall: "notify",
  stall_restarts_per_hour: 2,
};

/** Whether a field of a stored spec says no more than leaving it out would. */
export function isDefault(name: string, value: unknown): boolean {
  const usual: Record<string, unknown> = DEFAULTS;
  return JSON.stringify(value) === JSON.stringify(usual[name]);
}

import { expect, test } from "vitest";
import type { JobIn } from "@/api";
import { BESIDE } from "./job-defaults";
import { fromSpec, splitFilters, toSpec } from "./launch-draft";
import { DEFAULTS } from "./spec-defaults";

test("an empty form sends the defaults, but for the restarts that it offers", () => {
  expect(toSpec(fromSpec(null))).toEqual({ ...DEFAULTS, ...BESIDE, max_restarts: 3 });
});

test("what a job was launched with comes through the form as it was", () => {
  const spec: JobIn = {
    ...DEFAULTS,
    ...BESIDE,
    labels: { team: "vision", empty: "" },
    notes: "the second try",
    copy_of: 3,
    name: "again",
    script: "train.py",
    code: "0f".repeat(32),
    args: ["--name", "two words"],
    env: { A: "1", TEAM_WORD: "••••••" },
    secret_env: ["TEAM_WORD"],
    nproc_per_node: "auto",
    rdzv_conf: { join_timeout: "60" },
    monitor_interval: 0.5,
    exit_barrier_timeout: 300,
    tee: "0:3,1:1",
    log_line_prefix_template: "[${rank}] ",
    duplicate_stdout_filters: ["loss", "a, b"],
    virtual_local_rank: true,
    numa_binding: "node",
    log_metrics: ["step (?P<step>\\d+) ", "loss=(?P<loss>\\S+)"],
    evidence: "full",
    on_failure: ["nvidia-smi -q \\\n  > /tmp/gpus", "dmesg | tail"],
    hook_timeout_s: 2.5,
  };
  expect(toSpec(fromSpec(spec))).toEqual(spec);
});

test("a mark goes with the name that it stands beside", () => {
  const draft = { ...fromSpec(null), env: [{ name: " WORD ", value: "w", secret: true }, { name: "", value: "", secret: true }] };
  expect(toSpec(draft)).toMatchObject({ env: { WORD: "w" }, secret_env: ["WORD"] });
});

test("nproc_per_node is a number where a number is typed", () => {
  const draft = { ...fromSpec(null), nproc_per_node: " 4 " };
  expect(toSpec(draft).nproc_per_node).toBe(4);
  expect(toSpec({ ...draft, nproc_per_node: "gpu" }).nproc_per_node).toBe("gpu");
});

test("two commas in a filter are one", () => {
  expect(splitFilters("")).toEqual([]);
  expect(splitFilters("apple,a,,b")).toEqual(["apple", "a,b"]);
});

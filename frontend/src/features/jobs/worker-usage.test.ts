import { expect, test } from "vitest";
import type { WorkerOut, WorkerUsageOut } from "@/api";
import { byRank, formatCpu, formatGpu, formatMemory, standingOf } from "./worker-usage";

const usage = (more: Partial<WorkerUsageOut>): WorkerUsageOut => ({
  rank: 0,
  pid: 100,
  state: "S",
  cpu: 0.97,
  memory_bytes: 3 * 2 ** 30,
  gpu_index: null,
  gpu: null,
  gpu_memory_bytes: null,
  progress_s: 0.4,
  age_s: 1,
  ...more,
});

test("what is told of a process that was replaced is not shown with its successor", () => {
  const workers = [{ rank: 0, pid: 100 }, { rank: 1, pid: 201 }] as WorkerOut[];
  const told = byRank(workers, [usage({}), usage({ rank: 1, pid: 101 })]);
  expect([...told.keys()]).toEqual([0]);
});

test("the kernel's letter counts while the worker runs", () => {
  expect(standingOf({ state: "running" }, usage({ state: "T" })).word).toBe("stopped (T)");
  expect(standingOf({ state: "running" }, usage({ state: "S" })).word).toBe("running");
  expect(standingOf({ state: "running" }, undefined).word).toBe("running");
  expect(standingOf({ state: "cause" }, usage({ state: "Z" })).word).toBe("failed");
});

test("what is not known is no zero", () => {
  expect([formatCpu(null), formatMemory(undefined), formatGpu(usage({}))]).toEqual(["–", "–", "–"]);
  expect([formatCpu(0), formatCpu(4.123), formatMemory(3 * 2 ** 30)]).toEqual(["0 %", "412 %", "3.0 GiB"]);
  expect(formatGpu(usage({ gpu: 0.974, gpu_memory_bytes: 61 * 2 ** 30 }))).toBe("97 % · 61 GiB");
});

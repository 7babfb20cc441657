import { expect, test } from "vitest";
import { changeJob, changeJobPage, newerJob } from "./live-frames";
import type { JobOut, JobPage, JobSummary, WorkerOut } from "./types";

const worker = (rank: number, step: number) => ({ rank, step }) as WorkerOut;
const held = { id: 1, version: 8, state: "training", workers: [worker(0, 5), worker(1, 5)] } as JobOut;

test("a change sets fields, replaces workers by rank and takes away those that are gone", () => {
  const frame = { type: "change", topic: "job:1", n: 2, version: 9 } as const;
  const now = changeJob(held, { ...frame, set: { state: "restarting" }, workers: [worker(2, 0)], gone: [1] });
  expect(now.state).toBe("restarting");
  expect(now.workers.map((each) => each.rank)).toEqual([0, 2]);
  expect(now.version).toBe(9);
});

test("a change older than what is held changes nothing", () => {
  const late = { type: "change", topic: "job:1", n: 2, version: 7, set: { state: "failed" } } as const;
  expect(changeJob(held, late)).toBe(held);
  expect(newerJob(held, { ...held, version: 7 })).toBe(held);
});

test("a new job enters the first page only, and an old one stays where it is", () => {
  const job = (id: number, version = 1) => ({ id, version }) as JobSummary;
  const page = { items: [job(4), job(3)], next: null } as JobPage;
  expect(changeJobPage(page, [job(5), job(3, 2), job(1)], true).items).toEqual([job(5), job(4), job(3, 2)]);
  expect(changeJobPage(page, [job(5)], false).items).toEqual([job(4), job(3)]);
});

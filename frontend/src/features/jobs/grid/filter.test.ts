import { expect, test } from "vitest";
import type { JobOut, WorkerUsageOut } from "@/api";
import { nobody, onlyThose } from "./filter";
import { uses, worker } from "./made-up";
import type { Filter } from "./view";

const HELD_UP = { rank: 0, round: 3, ended_at: null } as JobOut["stall"];
const ALL = [
  worker(0),
  worker(1, { step: 99 }),
  worker(2, { step: 98 }),
  worker(3, { step: null }),
  worker(4, { state: "cause", step: 90 }),
  worker(5, { state: "peer_lost" }),
  worker(6, { state: "finished", step: 10 }),
];

function ranks(only: Filter, told: WorkerUsageOut[] = [], stall: JobOut["stall"] = null): number[] {
  const usage = new Map(told.map((one) => [one.rank, one]));
  return onlyThose(ALL, only, { fastest: 100, usage, stall }).map(({ rank }) => rank);
}

test("without a filter all are shown", () => {
  expect(ranks("all")).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test("behind are those that run two steps or more behind; one step, or none reported, is not", () => {
  expect(ranks("behind")).toEqual([2]);
});

test("stalled are those whose process stands still, if it has not ended", () => {
  expect(ranks("stalled", [uses(1, { state: "T" }), uses(2, { state: "S" }), uses(6, { state: "Z" })])).toEqual([1]);
});

test("stalled is who is named as holding up the others, until that is over and in that round only", () => {
  expect(ranks("stalled", [], HELD_UP)).toEqual([0]);
  expect(ranks("stalled", [], { ...HELD_UP, ended_at: "2026-11-30T12:00:00Z" } as JobOut["stall"])).toEqual([]);
  expect(ranks("stalled", [], { ...HELD_UP, round: 2 } as JobOut["stall"])).toEqual([]);
});

test("failed are the cause and those that lost a peer by it", () => {
  expect(ranks("failed")).toEqual([4, 5]);
});

test("that nobody is behind is said of all workers only, not of those that a search finds", () => {
  expect(nobody("behind", false)).toContain("No worker is known to be 2 steps or more behind");
  expect(nobody("behind", true)).toContain("that the search finds");
  expect(nobody("all", true)).toContain("No worker has this rank");
});

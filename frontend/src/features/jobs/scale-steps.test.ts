import { expect, test } from "vitest";
import { aJob, aMember, aRound } from "./job.fixture";
import { scaleSteps } from "./scale-steps";

const two = [aMember("node-1", { hosts_store: true }), aMember("node-2")];
const wanting = (wanted: number, formed = 2, alive = formed) => ({ min: 1, max: 3, wanted, formed, alive });
const AT = "2026-11-30T12:00:00Z";
const first = aRound(1, ["node-1", "node-2"]);
const reached = (steps: { says: string; at: string | null | undefined }[]) =>
  steps.map((step) => `${step.at === null ? "-" : "x"} ${step.says}`);

test("up: nothing is reached that was not seen, from the wish to the last worker", () => {
  const before = aJob();
  const asked = { target: 3, before, at: AT };
  expect(reached(scaleSteps(before, [first], asked))).toEqual([
    "- 3 nodes wanted",
    "- 1 node with free slots",
    "- a round is formed with 3 nodes",
    "- 3 of 3 nodes alive",
  ]);

  const coming = aMember("node-3", { phase: "launching", round: null });
  const placed = aJob({ nodes: wanting(3), members: [...two, coming] });
  expect(reached(scaleSteps(placed, [first], asked))).toEqual([
    "x 3 nodes wanted",
    "x node-3 was asked to start its runner",
    "- node-3 is ready and joins",
    "- a round is formed with 3 nodes",
    "- 3 of 3 nodes alive",
  ]);

  const three = [...two, aMember("node-3", { round: 2 })];
  const formed = aJob({ nodes: wanting(3, 3), members: three, round: 2, world_size: 6, workers_alive: 4 });
  const rounds = [first, aRound(2, ["node-1", "node-2", "node-3"])];
  expect(reached(scaleSteps(formed, rounds, asked)).slice(2)).toEqual([
    "x node-3 is ready and joins",
    "x round 2 is formed with 3 nodes, world size 6",
    "- 3 of 3 nodes alive",
  ]);
  expect(reached(scaleSteps({ ...formed, workers_alive: 6 }, rounds, asked)).at(-1)).toBe("x 3 of 3 nodes alive");
});

test("down: who leaves is named, and has left only when nothing of it is left", () => {
  const asked = { target: 1, before: aJob(), at: AT };
  const leaving = aMember("node-2", { leaves_at: "2026-11-30T12:00:01Z" });
  const now = aJob({ nodes: wanting(1), members: [aMember("node-1"), leaving] });
  expect(reached(scaleSteps(now, [first], asked))).toEqual([
    "x 1 node wanted",
    "x node-2 is to leave",
    "- node-2 has left, and nothing of the job runs there",
    "- a round is formed with 1 node",
    "- 1 of 1 node alive",
  ]);
});

test("a node that left before and comes back counts as one that comes", () => {
  const left = aMember("node-3", { has_left: true, outcome: "stopped" });
  const before = aJob({ members: [...two, left] });
  const again = aMember("node-3", { incarnation: 2, phase: "idle", round: null });
  const now = aJob({ nodes: wanting(3), members: [...two, again] });
  expect(reached(scaleSteps(now, [first], { target: 3, before, at: AT }))).toContain("x node-3 was asked to start its runner");
});

test("a node that was asked and did not take part is said so, and nothing is claimed of it", () => {
  const slow = aMember("node-3", {
    phase: "ended",
    round: null,
    outcome: "stopped",
    has_left: true,
    leaves_at: "2026-11-30T12:00:02Z",
    leaves_why: "node-4 takes its place",
  });
  const quick = aMember("node-4", { phase: "rendezvous", round: null });
  const now = aJob({ nodes: wanting(3), members: [...two, slow, quick] });
  expect(reached(scaleSteps(now, [first], { target: 3, before: aJob(), at: AT })).slice(1, 5)).toEqual([
    "x node-3 was asked to start its runner",
    "x node-3 does not take part: node-4 takes its place",
    "x node-4 was asked to start its runner",
    "x node-4 is ready and joins",
  ]);
});

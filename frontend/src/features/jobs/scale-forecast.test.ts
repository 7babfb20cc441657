import { expect, test } from "vitest";
import { aJob, aMember, aNode } from "./job.fixture";
import { forecastScale } from "./scale-forecast";

const FLEET = [aNode("node-1", 0), aNode("node-2", 0), aNode("node-3", 2)];

test("one node more names its cost, the world size and the node that has room", () => {
  expect(forecastScale(aJob(), FLEET, 3)).toEqual([
    "1 node more: a membership restart, world size 4 → 6. No failure restart is spent.",
    "node-3 has 2 free slots. Training goes on until it is ready to start.",
  ]);
});

test("where no node has room, it is said that the job waits for one", () => {
  const drained = aNode("node-3", 2, { takes_no_jobs: "Drained by anna." });
  const silent = aNode("node-4", 2, { state: "lost" });
  expect(forecastScale(aJob(), [drained, silent, aNode("node-5", 1)], 3)[1]).toBe(
    "No other node has 2 free slots now. The job takes one as soon as it is free.",
  );
});

test("where some of the nodes are free, the rest is waited for", () => {
  const alone = aJob({ nodes: { min: 1, max: 4, wanted: 1, formed: 1, alive: 1 }, members: [aMember("node-1")] });
  expect(forecastScale(alone, [aNode("node-3", 2)], 4)[1]).toBe(
    "node-3 has 2 free slots; no other node has enough. The job takes 2 as soon as they are free.",
  );
});

test("one node fewer says what becomes of it, and that the store stays", () => {
  expect(forecastScale(aJob(), FLEET, 1)).toEqual([
    "1 node fewer: a membership restart, world size 4 → 2. No failure restart is spent.",
    "The others form a new round at once; the workers of the node that leaves get SIGTERM and 30 s. node-1 keeps the store and stays.",
  ]);
});

test("no world size is claimed where each node has as many workers as GPUs", () => {
  const job = aJob({ spec: { ...aJob().spec, nproc_per_node: "gpu" } });
  expect(forecastScale(job, FLEET, 3)[0]).toBe("1 node more: a membership restart. No failure restart is spent.");
});

test("a job that waits in the queue just begins on another number", () => {
  const queued = aJob({ state: "queued", members: [], round: null });
  expect(forecastScale(queued, FLEET, 3)).toEqual(["The job begins on 3 nodes, as soon as that many are free."]);
});

import { expect, test } from "vitest";
import type { WorkerOut, WorkerUsageOut } from "@/api";
import { WORKER_WORDS } from "@/lib/states";
import { cellsOf, legendOf, wordsFor, type Seen } from "./cells";
import { NOW, uses, worker, workers } from "./made-up";
import type { Measure } from "./view";

function seen(...told: WorkerUsageOut[]): Seen {
  return { usage: new Map(told.map((one) => [one.rank, one])), fastest: 100, now: NOW };
}

function levels(by: Measure, of: WorkerOut[], known: Seen = seen()): (number | null)[] {
  return cellsOf(of, by, known).map(({ level }) => level);
}

test("each state that is not the usual one has a letter of its own", () => {
  const states = Object.keys(WORKER_WORDS) as WorkerOut["state"][];
  const cells = cellsOf(states.map((state, rank) => worker(rank, { state })), "state", seen());
  const letters = cells.map(({ state }) => state?.letter);
  expect(new Set(letters).size).toBe(states.length);
  expect(letters[states.indexOf("running")]).toBe("");
  expect(letters[states.indexOf("cause")]).toBe("F");
});

test("the kernel's word for a process that stands still wins over running", () => {
  const [cell] = cellsOf([worker(0)], "state", seen(uses(0, { state: "T" })));
  expect(cell?.state).toMatchObject({ letter: "T", word: "stopped (T)", tone: "amber" });
});

test("lag is told in steps behind the fastest, and not known without a step", () => {
  const steps = [100, 99, 98, 90, 0, null];
  expect(levels("lag", steps.map((step, rank) => worker(rank, { step })))).toEqual([0, 1, 2, 3, 4, null]);
});

test("silence is told by the node's clock before the page's, and an ended worker has none", () => {
  expect(levels("silence", [worker(0)])).toEqual([2]);
  expect(levels("silence", [worker(0)], seen(uses(0, { progress_s: 0.5 })))).toEqual([0]);
  expect(levels("silence", [worker(0, { state: "finished" }), worker(1, { progress_at: null })])).toEqual([null, null]);
});

test("what nobody has told is not drawn as nothing", () => {
  for (const by of ["cpu", "memory", "gpu"] as const) expect(levels(by, [worker(0)])).toEqual([null]);
});

test("memory is told by the largest, and none at all is no level", () => {
  const known = seen(uses(0, { memory_bytes: 100 }), uses(1, { memory_bytes: 50 }), uses(2, { memory_bytes: 0 }));
  expect(levels("memory", workers(3), known)).toEqual([4, 2, 0]);
  expect(levels("memory", workers(1), seen(uses(0, { memory_bytes: 0 })))).toEqual([0]);
});

test("the legend counts each cell once and names the limits", () => {
  const known = seen(uses(0, { gpu: 0.1 }), uses(1, { gpu: 0.95 }));
  const told = legendOf(cellsOf(workers(3), "gpu", known), "gpu", known.usage);
  expect(told.map(({ word, count }) => [word, count])).toEqual([
    ["below 20 %", 1],
    ["20 % to 40 %", 0],
    ["40 % to 60 %", 0],
    ["60 % to 80 %", 0],
    ["80 % and more", 1],
    ["not known", 1],
  ]);
});

test("the legend has no limits where nothing is known, and no word for what is not missing", () => {
  const words = (cells: ReturnType<typeof cellsOf>, usage = seen().usage) => legendOf(cells, "memory", usage).map(({ word }) => word);
  expect(words(cellsOf(workers(2), "memory", seen()))).toEqual(["not known"]);
  const known = seen(uses(0), uses(1));
  expect(words(cellsOf(workers(2), "memory", known), known.usage)).not.toContain("not known");
});

test("a worker that has ended is not said to be silent for an unknown time", () => {
  const ended = cellsOf([worker(0, { state: "cause" })], "silence", seen());
  expect(legendOf(ended, "silence", seen().usage).map(({ word }) => word)).toEqual(["ended, or not known"]);
});

test("the legend of states has only those that are there, the most frequent first", () => {
  const known = seen();
  const cells = cellsOf([worker(0, { state: "cause" }), worker(1), worker(2)], "state", known);
  expect(legendOf(cells, "state", known.usage).map(({ word, count }) => [word, count])).toEqual([
    [WORKER_WORDS.running, 2],
    [WORKER_WORDS.cause, 1],
  ]);
});

test("the line of a worker tells what is known of it, and leaves out what nobody can know", () => {
  expect(wordsFor({ worker: worker(9, { step: 98 }), usage: uses(9) }, seen())).toBe(
    "Rank 9 on node-1, pid 1009: running · step 98, 2 behind · reported 10 s ago · CPU 100 % · memory 1.0 GiB",
  );
});

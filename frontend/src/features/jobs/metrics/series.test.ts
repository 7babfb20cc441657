import { describe, expect, it } from "vitest";
import type { MetricRoundOut, SeriesOut } from "@/api";
import { columnsOf, inWords, lastDone, marksOf, pointsOf, readout, shadesOf } from "./series";

const T = 1_772_373_600;

function aRun(round: number, t: number[], step: number[], mean: number[], attempt = 1) {
  const same = { min: mean.map((each) => each - 1), max: mean.map((each) => each + 1) };
  return { attempt, round, t, step, mean, ...same, min_rank: t.map(() => 3), max_rank: t.map(() => 0) };
}

/** Killed at step 30, on again from step 20. */
const LOSS: SeriesOut = {
  name: "loss",
  group: "job",
  runs: [aRun(1, [T, T + 2, T + 4], [10, 20, 30], [9, 8, 7]), aRun(2, [T + 10, T + 12], [22, 33], [7.5, 6])],
};

function aRound(number: number, at: number, restart: MetricRoundOut["restart"]): MetricRoundOut {
  const sentence = restart === "start" ? "The first round of attempt 1." : "Rank 3 on node-b was killed by SIGKILL.";
  const iso = new Date(at * 1000).toISOString();
  return { attempt: 1, number, at: iso, world_size: 4, restart, kind: null, sentence, planned: false };
}

const ROUNDS = [aRound(1, T - 1, "start"), aRound(2, T + 8, "failure")];

describe("a metric as a chart draws it", () => {
  it("is one line over time, broken where another round begins", () => {
    const { x, mean, min, max } = columnsOf(pointsOf(LOSS, "time"), false);
    expect(x).toEqual([T, T + 2, T + 4, T + 7, T + 10, T + 12]);
    expect(mean).toEqual([9, 8, 7, null, 7.5, 6]);
    expect(min[0]).toBe(8);
    expect(max[0]).toBe(10);
  });

  it("shows steps that were done again as they were done last", () => {
    const points = pointsOf(LOSS, "step");
    expect(points.map((point) => point.x)).toEqual([10, 20, 22, 33]);
    expect(points.map((point) => point.mean)).toEqual([9, 8, 7.5, 6]);
    expect(lastDone([])).toEqual([]);
  });

  it("has an ascending axis whatever the order of rounds and attempts", () => {
    const later = { ...LOSS, runs: [...LOSS.runs, aRun(1, [T + 20], [5], [3], 2)] };
    for (const axis of ["time", "step"] as const) {
      const { x } = columnsOf(pointsOf(later, axis), false);
      expect(x).toEqual([...x].sort((a, b) => a - b));
      expect(new Set(x).size).toBe(x.length);
    }
    expect(pointsOf(later, "step").map((point) => point.x)).toEqual([5]);
  });

  it("draws no line over a time in which nothing was reported", () => {
    const run = aRun(1, [T, T + 2, T + 4, T + 60, T + 62], [1, 2, 3, 4, 5], [5, 5, 5, 5, 5]);
    const { mean } = columnsOf(pointsOf({ ...LOSS, runs: [run] }, "time"), false);
    expect(mean).toEqual([5, 5, 5, null, 5, 5]);
  });

  it("leaves out of a logarithmic scale what it cannot show", () => {
    const run = aRun(1, [T, T + 2], [1, 2], [0.5, 3]);
    const { min, mean } = columnsOf(pointsOf({ ...LOSS, runs: [run] }, "time"), true);
    expect(min).toEqual([null, 2]);
    expect(mean).toEqual([0.5, 3]);
  });

  it("leaves out on the axis of steps what has none", () => {
    const run = { ...aRun(0, [T], [0], [5]), step: [null] };
    expect(pointsOf({ ...LOSS, runs: [run] }, "step")).toEqual([]);
  });
});

describe("the rounds of a chart", () => {
  it("are marked when they began, or at their first step", () => {
    const onTime = marksOf(ROUNDS, pointsOf(LOSS, "time"), "time");
    expect(onTime.map(({ x, kind }) => [x, kind])).toEqual([
      [T - 1, "start"],
      [T + 8, "failure"],
    ]);
    expect(onTime[1]?.title).toContain("Rank 3 on node-b was killed by SIGKILL.");
    expect(marksOf(ROUNDS, pointsOf(LOSS, "step"), "step").map((mark) => mark.x)).toEqual([10, 22]);
  });

  it("are shaded every other one, the last up to the end", () => {
    const marks = marksOf(ROUNDS, [], "time");
    expect(shadesOf(marks, T + 99)).toEqual([{ from: T + 8, to: T + 99 }]);
    expect(shadesOf([], T)).toEqual([]);
  });

  it("are counted in the words for who does not see them", () => {
    const points = pointsOf(LOSS, "time");
    const words = inWords("loss", points, marksOf(ROUNDS, points, "time"));
    expect(words).toBe("loss between 5.000 and 10.00, at last 6.000, over 1 restart");
    expect(inWords("loss", [], [])).toContain("nothing is reported");
  });
});

describe("what is said of a point", () => {
  it("names who reported the extremes", () => {
    const [point] = pointsOf(LOSS, "time");
    expect(point && readout(point)).toMatch(/step 10 · min 8.000 \(rank 3\) · mean 9.000 · max 10.00 \(rank 0\) · round 1$/);
  });

  it("is one value where all ranks say the same", () => {
    const [point] = pointsOf(LOSS, "time");
    expect(point && readout({ ...point, min: 9, max: 9, attempt: 2 })).toMatch(/step 10 · 9.000 · round 1 of attempt 2$/);
  });
});

import { expect, test } from "vitest";
import { axisOf, barsOf, medianTick, secondsOf, type Axis } from "./waterfall-scale";
import { PHASES, aPhase } from "./waterfall.fixture";

const SECOND: Axis = { from: 0, to: 1000 };

test("the axis reaches from the first moment to the first step, not to the pace of before", () => {
  const axis = axisOf(PHASES) as Axis;
  expect(axis.to - axis.from).toBeCloseTo(442);
  expect(axis.from).toBe(Date.parse("2026-11-30T12:00:00Z"));
});

test("a rank that began before all others widens the axis", () => {
  const axis = axisOf([...PHASES, aPhase("stop", -0.1, 0.1)]) as Axis;
  expect(axis.to - axis.from).toBeCloseTo(542);
});

test("bars follow each other in order and what lies between them stays free", () => {
  const bars = barsOf(PHASES, axisOf(PHASES) as Axis);
  expect(bars.map(({ name }) => name)).toEqual([
    "detect", "stop", "joining", "last_call", "start", "script", "process_group", "first_step",
  ]);
  for (const [index, bar] of bars.slice(1).entries()) {
    const before = bars[index] as (typeof bars)[number];
    expect(bar.left).toBeGreaterThanOrEqual(before.left + before.width - 1e-6);
  }
  const last = bars.at(-1) as (typeof bars)[number];
  expect(last.left + last.width).toBeCloseTo(100);
});

test("nothing reported is nothing drawn", () => {
  expect(axisOf([aPhase("stop"), aPhase("pace", 1, 2)])).toBeNull();
  expect(barsOf([aPhase("stop")], SECOND)).toEqual([]);
});

test("the median's tick stands where the phase mostly ends, and not beyond the axis", () => {
  const axis = axisOf(PHASES) as Axis;
  expect(medianTick(aPhase("detect", 0, 0.01), 0.221, axis)).toBeCloseTo(50);
  expect(medianTick(aPhase("detect", 0, 0.01), 3, axis)).toBeNull();
  expect(medianTick(aPhase("detect"), 0.1, axis)).toBeNull();
});

test("the axis has round seconds, at most six of them", () => {
  expect(secondsOf(SECOND)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1].map((at) => expect.closeTo(at)));
  expect(secondsOf({ from: 0, to: 442 })).toEqual([0, 0.1, 0.2, 0.3, 0.4].map((at) => expect.closeTo(at)));
  for (const length of [3, 7, 18, 90, 442, 1999, 12_345, 600_000]) {
    expect(secondsOf({ from: 0, to: length }).length).toBeLessThanOrEqual(6);
  }
});

import { expect, test } from "vitest";
import type { CurvePoint } from "@/api";
import { CURVE_PX, extentOf, spotsOf, strokesOf, yOf } from "./curve";

const T0 = Date.parse("2026-03-01T12:00:00Z");

function point(seconds: number, step: number, more: Partial<CurvePoint> = {}): CurvePoint {
  return { at: new Date(T0 + 1000 * seconds).toISOString(), attempt: 1, step, metrics: {}, ...more };
}

test("step is there always, a metric only where it was reported", () => {
  const points = [point(0, 1), point(2, 9, { metrics: { loss: 0.5 } })];
  expect(spotsOf(points, "step").map((spot) => spot.value)).toEqual([1, 9]);
  expect(spotsOf(points, "loss")).toEqual([{ at: T0 + 2000, value: 0.5, attempt: 1 }]);
  expect(spotsOf(points, "accuracy")).toEqual([]);
});

test("a gap and another attempt begin another stroke", () => {
  const points = [point(0, 1), point(2, 2), point(60, 3), point(62, 4, { attempt: 2 }), point(64, 5, { attempt: 2 })];
  const strokes = strokesOf(spotsOf(points, "step"), 2000);
  expect(strokes.map((stroke) => stroke.map((spot) => spot.value))).toEqual([[1, 2], [3], [4, 5]]);
});

test("the height is that of what is in view", () => {
  const spots = spotsOf([point(0, 1), point(10, 50), point(20, 90)], "step");
  const extent = extentOf(spots, { from: T0 + 5000, to: T0 + 30_000, width: 800 });
  expect(extent).toEqual({ low: 50, high: 90 });
  expect(extentOf(spots, { from: T0 + 90_000, to: T0 + 99_000, width: 800 })).toBeNull();
});

test("the most is at the top, the least at the bottom, and what never changes in the middle", () => {
  const extent = { low: 1, high: 3 };
  expect(yOf(extent, 3)).toBeLessThan(yOf(extent, 1));
  expect(yOf({ low: 2, high: 2 }, 2)).toBe(CURVE_PX / 2);
});

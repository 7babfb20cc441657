import { expect, test } from "vitest";
import { barAt, barsOf, eachBar } from "./bars";
import { numberOf } from "./looks";
import { LABELS_PX, roomOf } from "./scale";

const [UP, RESTARTING, CAUSE] = [numberOf("up"), numberOf("restarting"), numberOf("cause")];

/** One millisecond a pixel. */
function view(from: number) {
  const width = 1000 + LABELS_PX + 12;
  return { from, to: from + roomOf(width), width };
}

function drawn(bars: ReturnType<typeof barsOf>, from: number, now = 1e9): [number, number, number][] {
  const found: [number, number, number][] = [];
  eachBar(bars, view(from), now, (left, right, look) => found.push([left - LABELS_PX, right - LABELS_PX, look]));
  return found;
}

function bar(from: number, to: number, look = UP, round: number | null = 1) {
  return { from, to, look, round };
}

test("only what is in view is given, where it stands", () => {
  const bars = barsOf([bar(0, 100), bar(100, 900), bar(2000, 2500)]);
  expect(drawn(bars, 500)).toEqual([[-400, 400, UP]]);
  expect(drawn(bars, 1500)).toEqual([[500, 1000, UP]]);
});

test("what is not over ends now", () => {
  expect(drawn(barsOf([bar(0, Infinity)]), 0, 300)).toEqual([[0, 300, UP]]);
});

test("of what is too narrow to be seen the gravest stands for its column, above the rest", () => {
  const bars = barsOf([bar(0, 500), bar(500, 500.2, RESTARTING), bar(500.4, 500.6, CAUSE), bar(501, 900)]);
  expect(drawn(bars, 0)).toEqual([
    [0, 500, UP],
    [501, 900, UP],
    [500, 502, CAUSE],
  ]);
});

test("what was never closed ends where the next begins", () => {
  const bars = barsOf([bar(700, 800), bar(0, Infinity), bar(300, 600)]);
  expect([...bars.to]).toEqual([300, 600, 800]);
});

test("the bar at a moment is found, and none between two", () => {
  const bars = barsOf([bar(0, 100), bar(200, Infinity)]);
  expect([0, 99, 100, 150, 200, 1e12].map((at) => barAt(bars, at))).toEqual([0, 0, undefined, undefined, 1, 1]);
  expect(barAt(barsOf([]), 5)).toBeUndefined();
});

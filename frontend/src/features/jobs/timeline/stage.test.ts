import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pictureOf } from "./picture";
import { LABELS_PX } from "./scale";
import { Stage } from "./stage";
import { aLane, aTimeline, minute } from "./timeline.fixture";
import type { Shown } from "./view";

const WIDTH = 600 + LABELS_PX + 12;

let stage: Stage;
let told: Shown[];

/** A job of an hour, of which the last ten minutes are shown: one pixel a second. */
beforeEach(() => {
  vi.useFakeTimers();
  stage = new Stage();
  told = [];
  stage.onRest = (shown) => told.push(shown);
  const picture = pictureOf({ timeline: aTimeline({ lanes: [aLane("node-1")] }), ranks: [], open: new Set(), silence: new Map() });
  stage.set({ picture, end: minute(60), width: WIDTH, selected: undefined, rank: undefined });
});

afterEach(() => void vi.useRealTimers());

function shown(): [number, number] {
  const { from, to } = stage.view;
  return [(from - minute(0)) / 60_000, (to - minute(0)) / 60_000];
}

test("it follows until it is moved, and that is told at once", () => {
  expect(shown()).toEqual([50, 60]);
  stage.pan(-300);
  vi.advanceTimersByTime(0);
  expect(told).toEqual([{ from: minute(45), to: minute(55) }]);
});

test("a move is told once it has come to rest", () => {
  stage.show({ from: minute(10), to: minute(20) });
  for (let times = 0; times < 5; times += 1) stage.pan(60);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(told).toEqual([{ from: minute(15), to: minute(25) }]);
});

test("what was told comes back from the address and takes nothing back of the next move", () => {
  stage.show({ from: minute(10), to: minute(20) });
  stage.pan(60);
  vi.advanceTimersByTime(1000);
  stage.pan(60);
  stage.show(told[0] as Shown);
  expect(shown()).toEqual([12, 22]);
});

test("another address gives up a move that is on its way", () => {
  stage.show({ from: minute(10), to: minute(20) });
  stage.pan(60);
  stage.show({ range: "all" });
  vi.advanceTimersByTime(1000);
  expect(told).toEqual([]);
  expect(shown()).toEqual([0, 60]);
});

test("time that goes on moves nothing but what follows", () => {
  const picture = pictureOf({ timeline: aTimeline({}), ranks: [], open: new Set(), silence: new Map() });
  const later = { picture, end: minute(70), width: WIDTH, selected: undefined, rank: undefined };
  stage.set(later);
  expect(shown()).toEqual([60, 70]);
  stage.show({ from: minute(10), to: minute(20) });
  stage.set({ ...later, end: minute(80) });
  expect(shown()).toEqual([10, 20]);
});

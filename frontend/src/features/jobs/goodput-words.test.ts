import { expect, test } from "vitest";
import type { GoodputOut, GoodputPart } from "@/api";
import { formatHours, formatShare, formatSpent, timeRows } from "./goodput-words";

function part(kind: GoodputPart["kind"], seconds: number | null, planned_s = 0): GoodputPart {
  return { kind, seconds, planned_s, worker_hours: ((seconds ?? 0) * 4) / 3600 };
}

function goodput(...parts: GoodputPart[]): GoodputOut {
  const wall_s = parts.reduce((sum, { seconds }) => sum + (seconds ?? 0), 0);
  return { wall_s, share: 0.9, worker_hours: 0, gpu_hours: null, parts, says: "" };
}

test("what counts comes first, and the shares make up the whole", () => {
  const rows = timeRows(goodput(part("queue", 2), part("down", 8, 6), part("training", 90), part("stalled", null)));
  expect(rows.map(({ word }) => word)).toEqual(["training", "down", "stalled", "in the queue"]);
  expect(rows.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
});

test("planned time stands apart, and is no question for training", () => {
  const [training, down, stalled] = timeRows(goodput(part("training", 92), part("down", 8, 6), part("stalled", null)));
  expect([training?.planned, training?.unplanned]).toEqual([null, null]);
  expect([down?.planned, down?.unplanned]).toEqual([6, 2]);
  expect([stalled?.seconds, stalled?.planned, stalled?.share]).toEqual([null, null, 0]);
});

test("a job of no time at all has no shares", () => {
  expect(timeRows(goodput(part("queue", 0)))[0]?.share).toBe(0);
});

test("small shares and hours are told as small, not as nothing", () => {
  expect([0, 0.0004, 0.004, 0.0996, 0.914, 1].map(formatShare)).toEqual(["0 %", "< 0.1 %", "0.4 %", "10 %", "91 %", "100 %"]);
  expect([0, 0.001, 0.42, 12.34, 1204.2].map(formatHours)).toEqual(["0", "< 0.01", "0.42", "12.3", "1,204"]);
});

test("time is rounded", () => {
  expect([0.04, 9.93, 9.97, 59.7, 102.6].map(formatSpent)).toEqual(["0.0 s", "9.9 s", "10 s", "1 min 00 s", "1 min 43 s"]);
});

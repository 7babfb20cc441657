import { expect, test } from "vitest";
import type { WaterfallRow } from "@/api";
import { clockWords, inOrder, lastIn, nameOf, tookOf, whichLast } from "./waterfall-ranks-words";
import { PHASES, aPhase } from "./waterfall.fixture";

const row = (node: string, rank: number | null, ...phases: WaterfallRow["phases"]): WaterfallRow => ({ node, rank, phases });

test("nodes come first by name, then ranks by number", () => {
  const rows = [row("node-b", 10), row("node-b", null), row("node-a", 9), row("node-a", null)];
  expect(inOrder(rows).map(nameOf)).toEqual(["node-a", "node-b", "rank 9 · node-a", "rank 10 · node-b"]);
});

test("a rank is marked in the phases that ended with it, a node in its own", () => {
  expect(lastIn(whichLast(row("node-b", 3), PHASES))).toBe("script and first step");
  expect(lastIn(whichLast(row("node-b", null), PHASES))).toBe("stop and start");
  expect(lastIn(whichLast(row("node-a", 1), PHASES))).toBe("");
});

test("a row took the sum of its phases, and none where it reported none", () => {
  expect(tookOf(row("node-a", 0, aPhase("script", 0, 0.1), aPhase("checkpoint"), aPhase("pace", 1, 9)))).toBeCloseTo(0.1);
  expect(tookOf(row("node-a", 0, aPhase("script")))).toBeNull();
});

test("the clock of a node is told with its error, and with what was done about it", () => {
  const clock = { node: "node-b", offset_s: 0.0018, error_s: 0.0004, taken_s: 0.0018 };
  expect(clockWords(clock)).toBe("node-b's clock is 1.8 ms ahead, ±0.4 ms; its moments are told less this.");
  expect(clockWords({ ...clock, offset_s: -2.5, taken_s: -2.5 })).toBe(
    "node-b's clock is 2.50 s behind, ±0.4 ms; its moments are told plus this.",
  );
  expect(clockWords({ ...clock, offset_s: 0.0001, taken_s: 0 })).toContain("no more than the error");
  expect(clockWords({ ...clock, offset_s: null, taken_s: 0 })).toBe(
    "node-b's clock was not measured; its moments are told as it wrote them.",
  );
});

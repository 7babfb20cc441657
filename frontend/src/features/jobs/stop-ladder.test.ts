import { expect, test } from "vitest";
import { canForce, ladderText } from "./stop-ladder";

const NOW = Date.parse("2026-11-30T12:00:00Z");

test("the grace is counted down to the second in which SIGKILL follows", () => {
  const stopping = { stop_deadline: "2026-11-30T12:00:22.400Z", stop_forced: false };
  expect(ladderText(stopping, NOW)).toBe("SIGTERM sent; SIGKILL in 23 s.");
  expect(ladderText(stopping, NOW + 22_000)).toBe("SIGTERM sent; SIGKILL in 1 s.");
  expect(ladderText(stopping, NOW + 22_400)).toContain("The grace is over");
});

test("a forced stop counts nothing down, and what is not sent is not claimed", () => {
  expect(ladderText({ stop_deadline: "2026-11-30T12:00:22Z", stop_forced: true }, NOW)).toContain("without waiting");
  expect(ladderText({ stop_deadline: null, stop_forced: false }, NOW)).toBe("");
});

test("only a stop that somebody asked for can be forced, and only once", () => {
  const asked = { state: "stopping", stopped_by: "anna", stop_forced: false } as const;
  expect(canForce(asked)).toBe(true);
  expect(canForce({ ...asked, stop_forced: true })).toBe(false);
  expect(canForce({ ...asked, stopped_by: null })).toBe(false);
  expect(canForce({ ...asked, state: "training" })).toBe(false);
});

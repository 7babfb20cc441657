import { expect, test } from "vitest";
import { aPhase, aRestart } from "./waterfall.fixture";
import {
  formatTook,
  hasMoments,
  inOneLine,
  lastThrough,
  medianWords,
  newestRestart,
  standsAt,
  timesMeasured,
  whyMissing,
  wholeWay,
} from "./waterfall-words";
import { axisOf } from "./waterfall-scale";
import { aRound } from "../job.fixture";

const PLANNED = { cause: { planned: true } } as Parameters<typeof aRestart>[1];

test("a restart in one line names what was reported, in order", () => {
  expect(inOneLine(aRestart(8), false)).toBe(
    "Round 8 was back in 0.44 s: detect 0.01 s · stop 0.02 s · joining 0.10 s · last call < 0.01 s · start 0.03 s · " +
      "script 0.02 s · process group 0.05 s · first step 0.20 s",
  );
});

test("without a first step it is not said to be back", () => {
  const round = aRestart(8, { phases: [aPhase("stop", 0, 0.02), aPhase("first_step")], recovery_s: null });
  expect(inOneLine(round, true)).toBe("Round 8 has reported no step yet: stop 0.02 s");
  expect(inOneLine(round, false)).toBe("Round 8 reported no step: stop 0.02 s");
  expect([wholeWay(round, true), wholeWay(round, false)]).toEqual(["No step is reported yet.", "No step was reported in this round."]);
});

test("a round without a moment says so", () => {
  const round = aRestart(8, { phases: [aPhase("stop"), aPhase("first_step")], recovery_s: null });
  expect(hasMoments(round)).toBe(false);
  expect(inOneLine(round, true)).toBe("Round 8: no moment of this restart is recorded.");
});

test("the whole way says from which moment it is counted", () => {
  expect(wholeWay(aRestart(8), false)).toBe("Back in 0.44 s, from the fault to the first step.");
  const phases = [aPhase("detect"), aPhase("stop", 0, 0.1), aPhase("first_step", 1, 1)];
  expect(wholeWay(aRestart(8, { phases, recovery_s: 2 }), false)).toBe("Back in 2.00 s, from a runner's notice of it to the first step.");
  const begun = { restart: "start" as const, phases: [aPhase("joining", 0, 1), aPhase("first_step", 1, 1)], recovery_s: 2 };
  expect(wholeWay(aRestart(1, begun), false)).toBe("The first step came 2.00 s after the beginning of the rendezvous.");
});

test("who was last is a rank, a node, or nobody where only one was asked", () => {
  expect(lastThrough(aPhase("script", 0, 1, { critical_node: "node-b", critical_rank: 0 }))).toBe("rank 0 on node-b was last");
  expect(lastThrough(aPhase("stop", 0, 1, { critical_node: "node-b" }))).toBe("node-b was last");
  expect(lastThrough(aPhase("detect", 0, 1))).toBe("");
});

test("a phase is held against the median of the job, once there are two restarts", () => {
  expect(medianWords(0.372, 0.12, 3)).toBe("median 0.12 s; 3.1 times that");
  expect(medianWords(0.126, 0.12, 3)).toBe("median 0.12 s; about that");
  expect(medianWords(0.001, 0.004, 3)).toBe("median < 0.01 s; about that");
  expect(medianWords(0.5, 0, 3)).toBe("median 0.00 s; more");
  expect(medianWords(24, 1, 3)).toBe("median 1.00 s; 24 times that");
  expect(medianWords(0.12, 0.12, 1)).toBe("measured once");
  expect(medianWords(0.12, undefined, 0)).toBe("");
});

test("first rounds count for no median", () => {
  const rounds = [aRestart(1, { restart: "start" }), aRestart(2), aRestart(3, { phases: [aPhase("stop")] })];
  expect(timesMeasured(rounds, "stop")).toBe(1);
  expect(newestRestart([aRound(1, ["node-a"])])).toBeUndefined();
  expect(newestRestart(rounds)?.number).toBe(3);
});

test("what was not reported says why", () => {
  expect(whyMissing("detect", aRestart(2))).toBe("no fault was sent by hand");
  expect(whyMissing("detect", aRestart(2, PLANNED))).toContain("one of its moments was not reported");
  expect(whyMissing("checkpoint", aRestart(2))).toContain("regroup_report.resumed");
  expect(whyMissing("stop", aRestart(1, { restart: "start" }))).toBe("no round came before it");
  expect(whyMissing("checkpoint", aRestart(1, { restart: "start" }))).toBe("no checkpoint was reported as loaded");
  expect(whyMissing("pace", aRestart(1, { restart: "start" }))).toBe("no steps came before it");
});

test("a bar is told in seconds to who does not see it", () => {
  const phase = aPhase("stop", 0.01, 0.02);
  expect(standsAt(phase, axisOf([aPhase("detect", 0, 0.01), phase]))).toBe("from 0.01 s to 0.03 s");
  expect(standsAt(aPhase("stop"), axisOf([phase]))).toBe("");
});

test("seconds keep two decimals while they tell something", () => {
  expect([0, 0.001, 0.42, 9.99, 14.23, 200].map(formatTook)).toEqual(["0.00 s", "< 0.01 s", "0.42 s", "9.99 s", "14.2 s", "3 min 20 s"]);
});

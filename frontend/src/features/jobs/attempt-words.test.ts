import { expect, test } from "vitest";
import type { AttemptOut } from "@/api";
import { attemptText, lastEnded, nextText } from "./attempt-words";

const NOW = Date.parse("2026-11-30T12:00:00Z");

function attempt(number: number, ended: boolean, isInfrastructure = true): AttemptOut {
  return {
    id: `j4-${number}`,
    number,
    began_at: "2026-11-30T11:00:00Z",
    ended_at: ended ? "2026-11-30T11:59:00Z" : null,
    why: ended ? "The store host node-1 was lost." : "",
    is_infrastructure: ended && isInfrastructure,
    nodes: ["node-1", "node-2"],
    rounds: 2,
  };
}

const relaunches = { used: 0, max: 3, next_at: null };

test("the first attempt is one of at most four with three relaunches", () => {
  const job = { state: "training", attempt: 1, attempts: [attempt(1, false)], relaunches } as const;
  expect(attemptText({ ...job, attempts: [...job.attempts] })).toBe("attempt 1 of at most 4");
});

test("while the next one is due, and when it runs, the limit is the same", () => {
  const used = { used: 1, max: 3, next_at: "2026-11-30T12:00:02.500Z" };
  const due = { state: "queued" as const, attempt: 1, attempts: [attempt(1, true)], relaunches: used };
  expect(attemptText(due)).toBe("attempt 1 of at most 4");
  expect(nextText(due, NOW)).toBe("Attempt 2 follows in 3 s.");
  expect(nextText(due, NOW + 3000)).toBe("Attempt 2 follows as soon as it can be placed.");
  expect(lastEnded(due)?.number).toBe(1);
  const runs = { ...due, state: "training" as const, attempt: 2, attempts: [attempt(2, false), attempt(1, true)] };
  expect(attemptText(runs)).toBe("attempt 2 of at most 4");
  expect(nextText(runs, NOW)).toBe("");
  expect(lastEnded(runs)?.number).toBe(1);
});

test("an attempt that a drain had begun anew costs no relaunch", () => {
  const drained = { state: "training" as const, attempt: 2, attempts: [attempt(2, false), attempt(1, true, false)], relaunches };
  expect(attemptText(drained)).toBe("attempt 2 of at most 5");
});

test("of a job that is over only the number is said, and the last attempt is told by the headline", () => {
  const over = { state: "failed" as const, attempt: 1, attempts: [attempt(1, true)], relaunches };
  expect(attemptText(over)).toBe("attempt 1");
  expect(lastEnded(over)).toBeNull();
});

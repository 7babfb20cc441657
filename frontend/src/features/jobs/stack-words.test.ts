import { expect, test } from "vitest";
import type { StackGroupOut } from "@/api";
import { doing, ranksOf, stacksText } from "./stack-words";

const group = (more: Partial<StackGroupOut>): StackGroupOut => ({
  ranks: [0, 2, 3],
  place: "all_reduce (train.py:40)",
  is_waiting: true,
  stands_out: false,
  threads: [{ name: "MainThread", frames: [{ name: "all_reduce", file: "/lib/c10d.py", line: 9 }] }],
  ...more,
});

test("ranks that follow one another are told as a range", () => {
  expect(ranksOf([3])).toBe("Rank 3");
  expect(ranksOf([0, 1])).toBe("2 ranks: 0, 1");
  expect(ranksOf([0, 2, 3])).toBe("3 ranks: 0, 2, 3");
  expect(ranksOf([0, 1, 2, 3, 7])).toBe("5 ranks: 0–3, 7");
  expect(ranksOf(Array.from({ length: 40 }, (_, n) => 2 * n))).toMatch(/^40 ranks: 0, 2, .* …$/);
});

test("whoever does not wait with the others is told apart", () => {
  expect(doing(group({}))).toBe("waits for other ranks");
  expect(doing(group({ stands_out: true, is_waiting: false }))).toBe("not where the others wait");
  expect(doing(group({ is_waiting: false }))).toBe("");
});

test("the text for a report has all frames, and says which could not be read", () => {
  const rank = { rank: 1, node: "node-b", pid: 7, state: "D", waits_in: "", method: "" as const, problem: "No answer." };
  expect(stacksText([group({})], [rank], ["node-c has not answered."])).toBe(
    "3 ranks: 0, 2, 3 — all_reduce (train.py:40)\n  Main thread\n    all_reduce (/lib/c10d.py:9)\n\n" +
      "Rank 1 on node-b: No answer.\n\nnode-c has not answered.",
  );
});

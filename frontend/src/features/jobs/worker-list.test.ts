import { expect, test } from "vitest";
import { matching, rowAfter } from "./worker-list";

const WORKERS = [
  { rank: 0, node: "node-a", pid: 801, state: "running" as const },
  { rank: 1, node: "node-a", pid: 802, state: "cause" as const },
  { rank: 10, node: "node-b", pid: 1, state: "running" as const },
];
const ranks = (text: string) => matching(WORKERS, text).map(({ rank }) => rank);

test("a number finds that rank or that pid and no other that merely holds its digits", () => {
  expect(ranks("1")).toEqual([1, 10]);
  expect(ranks("rank 10")).toEqual([10]);
  expect(ranks("802")).toEqual([1]);
});

test("a word finds a part of the node's name or the state, and all words must be true", () => {
  expect(ranks("NODE-A")).toEqual([0, 1]);
  expect(ranks("node-a, 1")).toEqual([1]);
  expect(ranks("running node-b")).toEqual([10]);
  expect(ranks("  ")).toEqual([0, 1, 10]);
});

test("keys move within the list and stop at its ends", () => {
  expect(rowAfter("ArrowDown", 3, 5)).toBe(4);
  expect(rowAfter("ArrowDown", 4, 5)).toBe(4);
  expect(rowAfter("PageUp", 4, 5)).toBe(0);
  expect(rowAfter("End", 0, 1000)).toBe(999);
  expect(rowAfter("x", 0, 5)).toBeNull();
});

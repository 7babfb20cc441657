import { expect, test } from "vitest";
import type { ConsequenceOut } from "@/api";
import { consequenceLines, ranges } from "./round-words";

const ended = (kind: ConsequenceOut["kind"], ...ranks: number[]): ConsequenceOut[] =>
  ranks.map((rank) => ({ rank, node: "node-1", kind }));

test("ranks in a row are one range", () => {
  expect(ranges([4])).toBe("4");
  expect(ranges([1, 0])).toBe("0 and 1");
  expect(ranges([9, 0, 1, 2, 3, 5])).toBe("0 to 3, 5 and 9");
  expect(ranges([...Array(1000).keys()])).toBe("0 to 999");
});

test("consequences are told by kind, the commonest first", () => {
  expect(consequenceLines([...ended("stopped", 3), ...ended("peer_lost", 0, 1, 2)])).toEqual([
    "3 ranks lost the connection to another worker: 0 to 2.",
    "1 rank stopped by the runner: 3.",
  ]);
  expect(consequenceLines([])).toEqual([]);
});

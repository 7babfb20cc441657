import { expect, test } from "vitest";
import { placed } from "./marks";
import { aMark, minute } from "./timeline.fixture";
import type { MarkOut } from "@/api";

/** One pixel a minute. */
function shown(marks: MarkOut[]): [string, number][] {
  const sorted = marks.map((mark) => ({ at: Date.parse(mark.at), mark }));
  return placed(sorted, (at) => (at - minute(0)) / 60_000, 1 / 60_000).map(({ mark, x }) => [mark.kind, x]);
}

test("marks that are apart stand where they belong", () => {
  expect(shown([aMark("failure", 10), aMark("kill", 30)])).toEqual([
    ["failure", 10],
    ["kill", 30],
  ]);
});

test("two at one place stand side by side, those of other nodes where they are", () => {
  expect(shown([aMark("kill", 10), aMark("failure", 11), aMark("failure", 11, { node: "node-2" })])).toEqual([
    ["kill", 10],
    ["failure", 22],
    ["failure", 11],
  ]);
});

test("of many at one place no more are drawn than stand near it", () => {
  const many = Array.from({ length: 50 }, () => aMark("failure", 10));
  expect(shown(many).map(([, x]) => x)).toEqual([10, 22, 34, 46]);
});

test("which checkpoints are drawn does not change with what is in view", () => {
  const all = Array.from({ length: 200 }, (_, index) => aMark("checkpoint", index));
  const times = shown(all).map(([, x]) => x);
  const later = shown(all.slice(64)).map(([, x]) => x);
  expect(times.length).toBeLessThan(9);
  expect(times.filter((x) => x >= 96)).toEqual(later.filter((x) => x >= 96));
});

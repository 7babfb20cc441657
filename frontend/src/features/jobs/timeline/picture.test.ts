import { expect, test } from "vitest";
import { LOOKS } from "./looks";
import { silenceOf } from "./lives";
import { pictureOf, rowsBetween, rowsOfMark, type Row } from "./picture";
import { aLane, aMark, aRankLane, aTimeline, formedAt, minute } from "./timeline.fixture";

const NONE = { ranks: [], open: new Set<string>(), silence: new Map<string, number>() };
const BOTH = ["node-1", "node-2"];

/** In minutes after noon: what a row shows. */
function told(row: Row | undefined): [string, number, number][] {
  const bars = row?.bars();
  if (bars === undefined) return [];
  const minutes = (ms: number) => (ms - minute(0)) / 60_000;
  return Array.from(bars.from, (from, index) => {
    const { word, meaning } = LOOKS[bars.look[index] as number] as (typeof LOOKS)[number];
    return [word || meaning, minutes(from), minutes(bars.to[index] as number)];
  });
}

function levels(timeline: Parameters<typeof aTimeline>[0]): [number, number, number][] {
  const { levels: found } = pictureOf({ timeline: aTimeline(timeline), ...NONE });
  return found.map(({ from, to, size }) => [(from - minute(0)) / 60_000, (to - minute(0)) / 60_000, size]);
}

test("the world size falls to nothing when a node of the round leaves it, until the next is formed", () => {
  const rounds = [formedAt(1, 1, BOTH), formedAt(11, 2, BOTH)];
  const lanes = [
    aLane("node-1", ["rendezvous", 0, 1], ["up", 1, 10, 1], ["restarting", 10, 10.5], ["rendezvous", 10.5, 11], ["up", 11, null, 2]),
    aLane("node-2", ["rendezvous", 0, 1], ["up", 1, 10.2, 1], ["restarting", 10.2, 10.5], ["rendezvous", 10.5, 11], ["up", 11, null, 2]),
  ];
  expect(levels({ rounds, lanes })).toEqual([
    [1, 10, 4],
    [11, Infinity, 4],
  ]);
});

test("a node that comes to join changes no world size before the round with it is formed", () => {
  const rounds = [formedAt(1, 1, ["node-1"]), formedAt(11, 2, BOTH)];
  const lanes = [
    aLane("node-1", ["up", 1, 10, 1], ["restarting", 10, 11], ["up", 11, null, 2]),
    aLane("node-2", ["launching", 3, 4], ["rendezvous", 4, 11], ["up", 11, null, 2]),
  ];
  expect(levels({ rounds, lanes })).toEqual([
    [1, 10, 2],
    [11, Infinity, 4],
  ]);
});

test("the world size of the last round of an attempt ends with its workers", () => {
  const rounds = [formedAt(1, 1, ["node-1"]), formedAt(30, 1, ["node-1"], { attempt: 2 })];
  const lanes = [aLane("node-1", ["up", 1, 5, 1], ["up", 30, 40, 1])];
  expect(levels({ rounds, lanes })).toEqual([
    [1, 5, 2],
    [30, 40, 2],
  ]);
});

test("a node that the others went on without is not drawn as training", () => {
  const rounds = [formedAt(1, 1, BOTH), formedAt(11, 2, ["node-1"])];
  const lanes = [aLane("node-1", ["up", 1, 10, 1], ["up", 11, null, 2]), aLane("node-2", ["up", 1, null, 1])];
  const { rows } = pictureOf({ timeline: aTimeline({ rounds, lanes }), ...NONE });
  expect(told(rows[1])).toEqual([
    ["workers up", 1, 11],
    ["not heard", 11, Infinity],
  ]);
  expect(told(rows[0])).toEqual([
    ["workers up", 1, 10],
    ["workers up", 11, Infinity],
  ]);
});

test("a spare that waits in the rendezvous is heard although rounds are formed without it", () => {
  const rounds = [formedAt(1, 1, ["node-1"]), formedAt(11, 2, ["node-1"])];
  const lanes = [aLane("node-1", ["up", 1, null, 1]), aLane("node-3", ["rendezvous", 0, null])];
  const { rows } = pictureOf({ timeline: aTimeline({ rounds, lanes }), ...NONE });
  expect(told(rows[1])).toEqual([["rendezvous", 0, Infinity]]);
});

test("of a node that is silent now nothing is claimed since it was last heard", () => {
  const members = [
    { node: "node-1", state: "online", silent_s: 1 },
    { node: "node-2", state: "lost", silent_s: 120 },
    { node: "node-3", state: "lost", silent_s: null },
  ] as const;
  const silence = silenceOf(members, minute(20));
  const lanes = [aLane("node-1", ["up", 1, null, 1]), aLane("node-2", ["up", 1, null, 1])];
  const { rows, levels: found } = pictureOf({ timeline: aTimeline({ rounds: [formedAt(1, 1, BOTH)], lanes }), ...NONE, silence });
  expect(told(rows[0])).toEqual([["workers up", 1, Infinity]]);
  expect(told(rows[1])).toEqual([
    ["workers up", 1, 18],
    ["not heard", 18, Infinity],
  ]);
  expect(found.map(({ to }) => to)).toEqual([Infinity]);
});

test("an open lane is followed by its ranks, whose workers tell how they ended", () => {
  const ranks = [
    aRankLane("node-2", 2, ["peer_lost", 1, 10, 1], ["running", 11, null, 2]),
    aRankLane("node-2", 3, ["cause", 1, 9, 1], ["running", 11, null, 2]),
  ];
  const lanes = [aLane("node-1", ["up", 1, null, 1]), aLane("node-2", ["up", 1, null, 1])];
  const timeline = aTimeline({ rounds: [formedAt(1, 1, BOTH), formedAt(11, 2, BOTH)], lanes });
  const picture = pictureOf({ timeline, ranks, open: new Set(["node-2"]), silence: new Map() });
  expect(picture.rows.map((row) => row.key)).toEqual(["node-1", "node-2", "node-2 rank 2", "node-2 rank 3"]);
  expect(told(picture.rows[3])).toEqual([
    ["failed", 1, 9],
    ["running", 11, Infinity],
  ]);
  expect(picture.height).toBe(24 + 24 + 18 + 18);
  const failure = aMark("failure", 9, { node: "node-2", rank: 3 });
  expect(rowsOfMark(picture, failure).map((row) => row.key)).toEqual(["node-2", "node-2 rank 3"]);
  const checkpoint = aMark("checkpoint", 9, { node: "node-2", rank: 3 });
  expect(rowsOfMark(picture, checkpoint).map((row) => row.key)).toEqual(["node-2"]);
});

test("only the rows between two heights are in view", () => {
  const lanes = Array.from({ length: 100 }, (_, index) => aLane(`node-${index}`));
  const { rows } = pictureOf({ timeline: aTimeline({ lanes }), ...NONE });
  expect(rowsBetween(rows, 0, 48)).toEqual([0, 2]);
  expect(rowsBetween(rows, 25, 73)).toEqual([1, 4]);
  expect(rowsBetween(rows, 2400, 2500)).toEqual([100, 100]);
});

import { expect, test } from "vitest";
import { marksOfRound, momentAt, momentOf } from "./moments";
import { pictureOf } from "./picture";
import { aLane, aMark, aTimeline, formedAt, minute } from "./timeline.fixture";

const timeline = aTimeline({
  rounds: [formedAt(1, 1, ["node-1"]), formedAt(10, 2, ["node-1"]), formedAt(20, 1, ["node-1"], { attempt: 2 })],
  lanes: [aLane("node-1", ["up", 2, null, 1])],
  marks: [
    aMark("checkpoint", 5, { rank: 0 }),
    aMark("failure", 9, { rank: 3, says: "Rank 3 was killed." }),
    aMark("stall", 12, { round: 2 }),
    aMark("join", 0.5, { round: null }),
    aMark("failure", 10, { rank: 1, round: 1 }),
  ],
});
const picture = pictureOf({ timeline, ranks: [], open: new Set(), silence: new Map() });

test("a moment is of the round that was the newest then", () => {
  expect(momentAt(picture, minute(9), 3)).toEqual({ attempt: 1, round: 1, rank: 3, at: "2026-11-30T12:09:00.000Z" });
  expect(momentAt(picture, minute(21), null)).toMatchObject({ attempt: 2, round: 1, rank: null });
});

test("before the first round there are no lines", () => {
  expect(momentAt(picture, minute(0), 0)).toBeUndefined();
  expect(momentOf(picture, { at: minute(0.5), mark: aMark("join", 0.5) })).toBeUndefined();
});

test("a mark leads to its own round and rank, and a checkpoint to all ranks", () => {
  const [, checkpoint, failure, late] = picture.marks;
  expect(momentOf(picture, failure!)).toMatchObject({ round: 1, rank: 3 });
  expect(momentOf(picture, checkpoint!)).toMatchObject({ round: 1, rank: null });
  expect(momentOf(picture, late!)).toMatchObject({ attempt: 1, round: 1, rank: 1 });
});

test("the marks of a round lie between its forming and the next one", () => {
  const kinds = [0, 1, 2].map((index) => marksOfRound(picture, index).map(({ mark }) => mark.kind));
  expect(kinds).toEqual([["checkpoint", "failure"], ["failure", "stall"], []]);
});

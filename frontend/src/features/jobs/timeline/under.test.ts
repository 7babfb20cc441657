import { expect, test } from "vitest";
import { pictureOf } from "./picture";
import { HEAD_PX, LABELS_PX, NODE_PX } from "./scale";
import { aLane, aMark, aRankLane, aTimeline, formedAt, minute } from "./timeline.fixture";
import { wordsAt } from "./under";

const timeline = aTimeline({
  rounds: [formedAt(1, 1, ["node-1"], { why: "The first one." })],
  lanes: [aLane("node-1", ["up", 1, null, 1])],
  marks: [aMark("kill", 30, { rank: 0, says: "anna sent SIGKILL to rank 0." }), aMark("ended", 50, { node: null, says: "Stopped by anna." })],
});
const ranks = [aRankLane("node-1", 0, ["cause", 2, 40, 1])];
const picture = pictureOf({ timeline, ranks, open: new Set(["node-1"]), silence: new Map() });
/** Ten pixels a minute. */
const view = { from: minute(0), to: minute(60), width: 600 + LABELS_PX + 12 };
const FIRST_LANE = HEAD_PX + NODE_PX / 2;

function under(minutes: number, y: number, scrolled = 0): string {
  return wordsAt({ picture, view, now: minute(60), scrolled }, LABELS_PX + 10 * minutes, y).join("\n");
}

test("a lane tells what went on there, and since when", () => {
  expect(under(10, FIRST_LANE)).toMatch(/^node-1, round 1: workers up\nfrom \d\d:01:00.0 for 59 min 00 s$/);
});

test("the lane of a rank tells how its worker ended", () => {
  expect(under(10, HEAD_PX + NODE_PX + 4)).toMatch(/^rank 0 on node-1, round 1: failed\. It failed by itself\.\n/);
  expect(under(10, FIRST_LANE, NODE_PX)).toMatch(/^rank 0 on node-1/);
  expect(under(50, HEAD_PX + NODE_PX + 4)).toBe("");
});

test("a mark says who did it, on the lanes that it belongs to", () => {
  expect(under(30, FIRST_LANE)).toContain("anna sent SIGKILL to rank 0.");
  expect(under(30, HEAD_PX + NODE_PX + 4)).toContain("anna sent SIGKILL to rank 0.");
  expect(under(50, HEAD_PX - 8)).toContain("Stopped by anna.");
});

test("above the lanes the round is told, and why it began", () => {
  expect(under(10, 30)).toMatch(/^Round 1, world size 2, formed \d\d:01:00\.0\nThe first one\.$/);
  expect(under(0.5, 30)).toBe("");
});

test("beside the lanes, and after now, nothing is told", () => {
  expect(wordsAt({ picture, view, now: minute(60), scrolled: 0 }, LABELS_PX - 5, FIRST_LANE)).toEqual([]);
  expect(wordsAt({ picture, view, now: minute(5), scrolled: 0 }, LABELS_PX + 100, FIRST_LANE)).toEqual([]);
});

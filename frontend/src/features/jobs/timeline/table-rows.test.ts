import { expect, test } from "vitest";
import { pictureOf } from "./picture";
import { tableRowsOf } from "./table-rows";
import { aLane, aMark, aRankLane, aTimeline, formedAt, minute } from "./timeline.fixture";

test("the table holds what the picture shows, in order of time", () => {
  const cause = {
    kind: "signal",
    rank: 1,
    node: "node-1",
    sentence: "Rank 1 on node-1 was killed by SIGKILL.",
    source: "exit status",
    planned: true,
  } as const;
  const consequences = [{ rank: 0, node: "node-1", kind: "peer_lost" as const }];
  const second = formedAt(11, 2, ["node-1"], { restart: "failure", cause, consequences, steps_redone: 30 });
  const timeline = aTimeline({
    rounds: [formedAt(1, 1, ["node-1"]), second],
    lanes: [aLane("node-1", ["up", 2, 10, 1], ["up", 12, null, 2])],
    marks: [aMark("failure", 9, { rank: 1, says: "Rank 1 was killed." })],
  });
  const ranks = [aRankLane("node-1", 1, ["cause", 3, 9, 1])];
  const rows = tableRowsOf(pictureOf({ timeline, ranks, open: new Set(["node-1"]), silence: new Map() }));

  expect(rows.map((row) => [(row.at - minute(0)) / 60_000, row.where, row.round])).toEqual([
    [1, "node-1", 1],
    [2, "node-1", 1],
    [3, "rank 1 on node-1", 1],
    [9, "node-1", 1],
    [11, "node-1", 2],
    [12, "node-1", 2],
  ]);
  expect(rows[2]?.what).toEqual(["worker failed, for 6 min 00 s"]);
  expect(rows[3]?.what).toEqual(["Rank 1 was killed."]);
  expect(rows[4]?.what).toEqual([
    "Round 2 formed: world size 2 on 1 node.",
    "Rank 1 on node-1 was killed by SIGKILL.",
    "Cause: a signal, known from exit status, asked for by a person.",
    "1 rank lost the connection to another worker: 0.",
    "30 steps redone.",
  ]);
  expect(rows[5]?.what).toEqual(["workers up, still"]);
});

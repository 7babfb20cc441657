import { expect, test } from "vitest";
import { launchSentence } from "./launch-sentence";

test("the sentence says nodes, ranks and restarts as one types", () => {
  const said = launchSentence({ nnodes: "1:3", nodes: 2, nproc: 2, maxRestarts: 3 });
  expect(said).toContain("Runs on 1 to 3 nodes, 2 wanted now, with 2 workers each: 4 ranks.");
  expect(said).toContain("Up to 3 failure restarts for each node.");
});

test("what is no range is said to be none", () => {
  for (const nnodes of ["", "3:2", "0", "two"]) {
    expect(launchSentence({ nnodes, nodes: null, nproc: 1, maxRestarts: 0 })).toContain("nnodes is a number of nodes");
  }
});

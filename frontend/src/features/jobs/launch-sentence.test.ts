import { expect, test } from "vitest";
import { launchSentence, type Asked } from "./launch-sentence";

const ASKED: Asked = { nnodes: "1:3", nodes: 2, nproc: 2, maxRestarts: 3, spares: 0 };

test("the sentence says nodes, ranks and restarts as one types", () => {
  const said = launchSentence(ASKED);
  expect(said).toContain("Runs on 1 to 3 nodes, 2 wanted now, with 2 workers each: 4 ranks.");
  expect(said).toContain("Up to 3 failure restarts for each node.");
});

test("what is no range is said to be none", () => {
  for (const nnodes of ["", "3:2", "0", "two"]) {
    expect(launchSentence({ ...ASKED, nnodes })).toContain("nnodes is a number of nodes");
  }
});

test("a word for the workers of a node promises no number of ranks", () => {
  expect(launchSentence({ ...ASKED, nnodes: "2", nproc: "gpu" })).toContain(
    "Runs on 2 nodes with a worker for each GPU. A lost node",
  );
  expect(launchSentence({ ...ASKED, nproc: "xpu" })).toContain("nproc_per_node is a number of workers");
});

test("spares are told", () => {
  expect(launchSentence({ ...ASKED, spares: 1 })).toContain("1 more node stands by and takes the place of a lost one.");
});

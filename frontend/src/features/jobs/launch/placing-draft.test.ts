import { expect, test } from "vitest";
import { fromPlacing, toPlacing } from "./placing-draft";

test("what was asked for comes through the form as it was", () => {
  const placing = {
    priority: -5,
    placement: "pack" as const,
    nodes_selector: { disk: "nvme", zone: "b" },
    node_names: ["node-1", "node-2"],
    gpu_model: "H100",
    gpus_per_node: 8,
    checkpoint_dir: "/shared/run 1",
    checks: "require" as const,
  };
  expect(toPlacing(fromPlacing(placing))).toEqual(placing);
});

test("an empty form asks for nothing in particular", () => {
  expect(toPlacing(fromPlacing(null))).toEqual({
    priority: 0,
    placement: "spread",
    nodes_selector: {},
    node_names: [],
    gpu_model: "",
    gpus_per_node: 0,
    checkpoint_dir: null,
    checks: "skip",
  });
});

test("labels and names may be written with blanks or commas between them", () => {
  const draft = { ...fromPlacing(null), nodes_selector: " disk=nvme zone=b=c ", node_names: "a,b  c," };
  expect(toPlacing(draft)).toMatchObject({
    nodes_selector: { disk: "nvme", zone: "b=c" },
    node_names: ["a", "b", "c"],
  });
});

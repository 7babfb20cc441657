import { expect, test } from "vitest";
import { diffOf } from "./launch-diff";
import { fromSpec, toSpec } from "../launch-draft";

const WAS = { ...toSpec(fromSpec(null)), script: "/srv/train.py", args: ["--lr", "1"], env: { A: "1", B: "2" }, nnodes: "2" };

test("what is as it was differs in nothing", () => {
  expect(diffOf(WAS, toSpec(fromSpec(WAS)))).toEqual([]);
});

test("each field that differs is told with what it was and what it is", () => {
  const is = { ...WAS, args: ["--lr", "2"], env: { A: "1", C: "3" }, nnodes: "1:2", workdir: "/srv" };
  expect(diffOf(WAS, is).sort((a, b) => a.field.localeCompare(b.field))).toEqual([
    { field: "args", was: "--lr 1", is: "--lr 2" },
    { field: "env B", was: "2", is: "–" },
    { field: "env C", was: "–", is: "3" },
    { field: "nnodes", was: "2", is: "1:2" },
    { field: "workdir", was: "–", is: "/srv" },
  ]);
});

test("a secret that was typed is told of and not shown", () => {
  const was = { ...WAS, env: { A_TOKEN: "••••••", WORD: "••••••" }, secret_env: ["WORD"] };
  expect(diffOf(was, { ...was, env: { A_TOKEN: "hunter2", WORD: "hunter3" } })).toEqual([
    { field: "env A_TOKEN", was: "••••••", is: "•••••• typed here" },
    { field: "env WORD", was: "••••••", is: "•••••• typed here" },
  ]);
});

import { expect, test } from "vitest";
import { piecesOf } from "./marked-command";

const remark = (position: number, length: number) => ({ flag: "x", position, length, message: "said" });

test("a word that is wrong is a piece of its own", () => {
  expect(piecesOf("torchrun --foo x.py", [remark(9, 5)], [])).toEqual([
    { text: "torchrun ", mark: null },
    { text: "--foo", mark: "problem" },
    { text: " x.py", mark: null },
  ]);
});

test("characters count as the hub counts them, and a problem wins over what was left out", () => {
  const pieces = piecesOf("A=🔥 --foo", [remark(4, 5)], [remark(0, 9)]);
  expect(pieces).toEqual([
    { text: "A=🔥 ", mark: "stripped" },
    { text: "--foo", mark: "problem" },
  ]);
});

test("a remark about the whole text marks nothing", () => {
  expect(piecesOf("ls", [remark(0, 0)], [])).toEqual([{ text: "ls", mark: null }]);
});

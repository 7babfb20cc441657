import { expect, test } from "vitest";
import { chosen, picked, tooLarge } from "./dropped-code";

function files(...paths: string[]) {
  return paths.map((path) => ({ path, file: new File(["x"], path.split("/").at(-1) ?? "") }));
}

function paths(...given: string[]): string[] | undefined {
  return picked(files(...given))?.code.files.map(({ path }) => path);
}

test("a folder's own name is no part of the paths in it", () => {
  expect(paths("proj/train.py", "proj/net/model.py")).toEqual(["train.py", "net/model.py"]);
  expect(picked(files("proj/train.py", "proj/net/model.py"))?.code.name).toBe("proj");
});

test("two folders keep their names", () => {
  expect(paths("a/train.py", "b/train.py")).toEqual(["a/train.py", "b/train.py"]);
});

test("a folder beside a file keeps its name, also where it begins alike", () => {
  expect(paths("net/model.py", "net.py")).toEqual(["net/model.py", "net.py"]);
});

test("what is no code is left out and counted", () => {
  const found = picked(files("proj/train.py", "proj/.git/HEAD", "proj/__pycache__/train.pyc"));
  expect(found?.code.files.map(({ path }) => path)).toEqual(["train.py"]);
  expect(found?.leftOut).toBe(2);
});

test("a script alone is called as it is", () => {
  expect(chosen([new File(["x"], "train.py")])?.code.name).toBe("train.py");
});

test("where there is no code there is nothing to send", () => {
  expect(picked(files("proj/.git/HEAD"))).toBe(null);
});

test("what the hub would refuse for its size is told before it is sent", () => {
  const large = new File([new Uint8Array(33 * 2 ** 20)], "weights.pt");
  const two = [1, 2].map((number) => ({ path: `proj/${number}.pt`, file: large }));
  expect(tooLarge({ name: "proj", files: two })?.message).toContain("proj has 66 MiB, and 64 MiB are the most.");
  expect(tooLarge({ name: "proj", files: two.slice(1) })).toBe(null);
});

test("too many files are told before they are sent", () => {
  const many = files(...Array.from({ length: 5001 }, (_, index) => `${index}.py`));
  expect(tooLarge({ name: "proj", files: many })?.message).toContain("proj has 5,001 files, and 5,000 are the most.");
});

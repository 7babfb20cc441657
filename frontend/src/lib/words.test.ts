import { expect, test } from "vitest";
import { plainText } from "./ansi";
import { ArgsError, joinArgs, splitArgs } from "./args";
import { formatAge, formatDuration, formatMetric, formatRemaining } from "./format";
import { ENDED, JOB_STATES } from "./states";

test("arguments are split at blanks, and quotes keep them together", () => {
  expect(splitArgs(`--steps 500  --name "a \\"b\\" c" '$HOME x' d\\ e ''`)).toEqual([
    "--steps", "500", "--name", 'a "b" c', "$HOME x", "d e", "",
  ]);
  expect(splitArgs(" \n ")).toEqual([]);
});

test("a quote that is never closed is said", () => {
  expect(() => splitArgs("--name 'a b")).toThrow(ArgsError);
});

test("joined arguments are split into the same again", () => {
  const args = ["--a=b", "", "it's", 'say "hi"', "back\\slash", `both ' and " \\`, "line\nbreak", "$x"];
  expect(splitArgs(joinArgs(args))).toEqual(args);
});

test("durations and ages are short and keep their unit", () => {
  expect([0.41, 14, 200, 7500, 273_600].map(formatDuration)).toEqual(["0.4 s", "14 s", "3 min 20 s", "2 h 05 min", "3 d 4 h"]);
  expect([-3, 0.4, 14, 200, 7500].map(formatAge)).toEqual(["now", "now", "14 s", "3 min", "2 h"]);
  expect([20, 300, 12_000].map(formatRemaining)).toEqual(["less than 1 min", "about 5 min", "about 3 h 20 min"]);
});

test("metrics keep about four figures, and what is no number says so", () => {
  expect([1.2841, 0.03123, 0.00001, 12.345, NaN].map(formatMetric)).toEqual(["1.284", "0.031", "1.00e-5", "12.35", "NaN"]);
});

test("no two job states share shape, tone and meaning", () => {
  const looks = Object.values(JOB_STATES).map((look) => JSON.stringify(look));
  expect(new Set(looks).size).toBe(looks.length);
  expect([...ENDED].every((state) => state in JOB_STATES)).toBe(true);
});

test("terminal sequences and overwritten parts of a line are taken out", () => {
  expect(plainText("\x1b[31mred\x1b[0m and 10%\r100%")).toBe("100%");
  expect(plainText("\x1b[1mstep 5\x1b[0m\r")).toBe("step 5");
});

import { expect, test } from "vitest";
import { offeredBy, readEnvironments } from "./environments";

const VISION = { name: "vision", path: "/opt/vision/bin/python", python: "3.11.9", torch: "2.13.0", trouble: "" };
const AUDIO = { name: "audio", path: "/opt/audio/bin/python", python: "", torch: "", trouble: "" };
const GONE = { ...AUDIO, name: "gone", trouble: "does not work: /opt/gone is no executable file" };

test("versions are told where they are known, and said to be unknown where not", () => {
  const [vision, audio] = readEnvironments({ environments: [VISION, AUDIO] });
  expect(vision?.versions).toBe("Python 3.11.9, torch 2.13.0");
  expect(audio?.versions).toBe("versions not known");
});

test("a node that tells of none has none", () => {
  expect(readEnvironments({})).toEqual([]);
  expect(readEnvironments({ environments: "odd" })).toEqual([]);
});

test("each name is offered with the number of nodes on which it works", () => {
  const nodes = [{ facts: { environments: [VISION, GONE] } }, { facts: { environments: [VISION, AUDIO] } }, { facts: {} }];
  expect(offeredBy(nodes)).toEqual([
    { value: "env:audio", says: "1 node" },
    { value: "env:vision", says: "2 nodes" },
  ]);
});

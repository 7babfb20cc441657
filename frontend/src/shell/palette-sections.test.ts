import { expect, test } from "vitest";
import type { Act } from "@/ui/acts";
import { sectionsFor, type Section } from "./palette-sections";

const act = (id: string, says: string, note?: string): Act => ({ id, says, ...(note !== undefined && { note }), run: () => {} });

const SECTIONS: Section[] = [
  { title: "On this page", acts: [act("stop", "Stop char-lm"), ...[3, 13, 30].map((rank) => act(`kill ${rank}`, `Kill rank ${rank}`))] },
  { title: "Jobs", acts: [act("job:7", "char-lm", "job 7, training"), act("job:3", "resnet", "job 3, failed")] },
  { title: "Go to", acts: [act("go:nodes", "Nodes")] },
];

const idsFor = (text: string, recent: string[] = []) => sectionsFor(SECTIONS, text, recent).map(({ title, acts }) => [title, acts.map(({ id }) => id)]);

test("without a text, what was chosen lately comes first, and nothing stands there twice", () => {
  expect(idsFor("", ["go:nodes", "job:3", "job:99"])).toEqual([
    ["Lately", ["go:nodes", "job:3"]],
    ["On this page", ["stop", "kill 3", "kill 13", "kill 30"]],
    ["Jobs", ["job:7"]],
  ]);
});

test("a whole word is better than a beginning, and that better than a part", () => {
  expect(idsFor("kill 3")).toEqual([["On this page", ["kill 3", "kill 30", "kill 13"]]]);
});

test("every word must be found, in what an act says or in what stands beside it", () => {
  expect(idsFor("FAILED")).toEqual([["Jobs", ["job:3"]]]);
  expect(idsFor("char failed")).toEqual([]);
});

test("the section with the best hit comes first", () => {
  expect(idsFor("char-lm training").map(([title]) => title)).toEqual(["Jobs"]);
  expect(idsFor("nod").map(([title]) => title)).toEqual(["Go to"]);
});

test("of many hits only the best are listed", () => {
  const many = [{ title: "Jobs", acts: Array.from({ length: 50 }, (_, i) => act(`job:${i}`, `run-${i}`)) }];
  expect(sectionsFor(many, "run", [])[0]?.acts).toHaveLength(8);
  expect(sectionsFor(many, "", [])[0]?.acts).toHaveLength(12);
});

test("what ends something stands behind what does not, so that Enter alone never leads to it", () => {
  const page = [{ title: "On this page", acts: [{ ...act("stop", "Stop char-lm"), isDanger: true as const }, act("tab:logs", "Show logs")] }];
  expect(sectionsFor(page, "", [])[0]?.acts.map(({ id }) => id)).toEqual(["tab:logs", "stop"]);
});

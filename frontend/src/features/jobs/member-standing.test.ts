import { expect, test } from "vitest";
import type { MemberOut } from "@/api";
import { aJob, aMember } from "./job.fixture";
import { memberStanding } from "./member-standing";
import { nodesNote } from "./nodes-note";

function standing(change: Partial<MemberOut>, round = 1) {
  const member = aMember("node-2", change);
  return memberStanding(member, aJob({ round, members: [aMember("node-1"), member] }));
}

test("a node that works needs no more than its phase", () => {
  expect(standing({})).toMatchObject({ word: "up", says: "" });
});

test("a spare stands by, and one that leaves says for whom and since when", () => {
  expect(standing({ is_spare: true, phase: "rendezvous" }).word).toBe("spare");
  const leaving = standing({ leaves_at: "2026-11-30T12:00:05Z", leaves_why: "drained by anna: a new disk" });
  expect(leaving).toEqual({
    word: "leaving",
    since: "2026-11-30T12:00:05Z",
    says: "It is to leave: drained by anna: a new disk. Its workers get SIGTERM and 30 s.",
  });
});

test("a node has left only in words of what is still there", () => {
  const left = { has_left: true, outcome: "stopped", phase: "ended", leaves_why: "scaled down from 2 to 1 node by anna" };
  expect(standing(left).says).toContain("What is left of the job there is being ended.");
  expect(standing({ ...left, settled_at: "2026-11-30T12:00:05Z" })).toMatchObject({
    word: "left",
    says: "It left: scaled down from 2 to 1 node by anna. Nothing of the job runs there.",
  });
});

test("a silent node is gone only once the others went on without it", () => {
  expect(standing({ state: "unheard" }, 1).word).toBe("up");
  expect(standing({ state: "lost" }, 2).word).toBe("gone");
});

test("a second runner says that it is one, and how many died", () => {
  const again = standing({ incarnation: 2, phase: "launching", round: null, deaths: ["2026-11-30T12:00:00Z"] });
  expect(again.word).toBe("starting again");
  expect(again.says).toBe("This is runner 2 of the node in this attempt. 1 runner of it died before.");
});

test("a node that is done says for whom it waits", () => {
  expect(standing({ phase: "finishing" }).says).toBe("It is finished, and waits for node-1.");
});

test("the number of nodes says who comes, who leaves, and why it is fixed", () => {
  const coming = aMember("node-3", { phase: "idle", round: null });
  const job = aJob({ nodes: { min: 1, max: 3, wanted: 3, formed: 2, alive: 2 }, members: [aMember("node-1"), coming] });
  expect(nodesNote(job)).toBe("3 wanted of 1 to 3; node-3 is joining.");
  const going = aMember("node-2", { leaves_at: "2026-11-30T12:00:05Z" });
  expect(nodesNote(aJob({ members: [aMember("node-1"), going] }))).toBe("2 wanted of 1 to 3; node-2 is leaving.");
  const fixed = { spares: 0, standing_by: 0, why: "", fixed: "nnodes is 2, so that the number of nodes is fixed." };
  expect(nodesNote(aJob({ nodes: { min: 2, max: 2, wanted: 2, formed: 2, alive: 2 }, scaling: fixed }))).toBe(
    "2 wanted. nnodes is 2, so that the number of nodes is fixed.",
  );
});

import { expect, test } from "vitest";
import type { FaultOut, RoundOut, WorkerOut } from "@/api";
import { faultSteps } from "./fault-steps";
import { actOf, bodyOf, draftOf } from "./fault-words";
import { pickedRanks, toggled } from "./picked";

const worker = (rank: number) => ({ rank, round: 2, pid: 100 + rank }) as WorkerOut;
const T = ["12:00:00", "12:00:01", "12:00:02", "12:00:03"].map((time) => `2026-01-01T${time}Z`) as [string, string, string, string];

const aFault = (values: Partial<FaultOut>) =>
  ({
    id: "c-1",
    kind: "kill_worker",
    node: "node-1",
    rank: 3,
    round: 2,
    sent_at: T[0],
    received_at: null,
    begun_at: null,
    ended_at: null,
    state: "sent",
    is_final: false,
    outcome: null,
    ...values,
  }) as FaultOut;

const told = (faults: FaultOut[], rounds: RoundOut[] = []) =>
  faultSteps(faults, new Map([[3, 103]]), rounds).map(({ says, at }) => [says, at]);

test("ranks are picked and put back in the address", () => {
  expect([...pickedRanks("3,1,x,-2")]).toEqual([3, 1]);
  expect(toggled("1,12", 3)).toBe("1,3,12");
  expect(toggled("1,3", 3)).toBe("1");
  expect(toggled(null, 0)).toBe("0");
});

test("the act names whom it is done to", () => {
  expect(actOf("kill_worker", { workers: [worker(3)] })).toBe("Kill rank 3");
  expect(actOf("freeze_worker", { workers: [worker(1), worker(3)] })).toBe("Freeze ranks 1 and 3");
  expect(actOf("slow_worker", { workers: [0, 1, 2, 3, 4, 5, 6].map(worker) })).toBe("Slow 7 workers");
  expect(actOf("cut_node", { node: "node-2" })).toBe("Cut node-2 off");
});

test("what was seen goes with what is asked, so that a successor is not hit", () => {
  const body = bodyOf(draftOf("slow_worker"), { workers: [worker(1), worker(3)] }, "a-1", "a look");
  expect(body).toMatchObject({ ranks: [1, 3], share: 0.25, seconds: 30, reason: "a look", dry_run: false });
  expect(body.if).toEqual([
    { rank: 1, round: 2, pid: 101, attempt: "a-1" },
    { rank: 3, round: 2, pid: 103, attempt: "a-1" },
  ]);
  expect(bodyOf(draftOf("kill_runner"), { node: "node-1" }, "a-1")).toMatchObject({ node: "node-1", if: { attempt: "a-1" } });
});

test("a kill is followed up to the round that began with it", () => {
  expect(told([aFault({})])).toEqual([
    ["sent", T[0]],
    ["node-1 has it", null],
    ["pid 103 is gone", null],
    ["round 3 is formed", null],
  ]);
  const outcome = { round: 3, world_size: 4 } as FaultOut["outcome"];
  const done = aFault({ received_at: T[1], ended_at: T[2], state: "done", is_final: true, outcome });
  const round = { number: 3, formed_at: T[3], resumed_step: 20 } as RoundOut;
  expect(told([done], [round])).toEqual([
    ["sent", T[0]],
    ["node-1 has it", T[1]],
    ["pid 103 is gone", T[2]],
    ["round 3 is formed, world size 4", T[3]],
    ["resumed from step 20", undefined],
  ]);
});

test("of several workers a step is reached with the last of them, and a refused one holds up nobody", () => {
  const first = aFault({ received_at: T[1], begun_at: T[1], kind: "freeze_worker" });
  const second = aFault({ ...first, id: "c-2", rank: 1, node: "node-2", begun_at: T[2] });
  const refused = aFault({ ...first, id: "c-3", rank: 0, state: "refused", is_final: true, begun_at: null });
  expect(told([first, second, refused])).toEqual([
    ["sent", T[0]],
    ["node-1 and node-2 have it", T[1]],
    ["seen to stand still", T[2]],
    ["seen to go on", null],
  ]);
  expect(told([refused])).toEqual([
    ["sent", T[0]],
    ["node-1 has it", T[1]],
  ]);
});

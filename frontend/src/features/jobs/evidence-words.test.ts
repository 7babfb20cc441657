import { expect, test } from "vitest";
import type { EvidenceNode, EvidenceRound, HookOut } from "@/api";
import { absent, hookSentence, isKept, isWell, keptSentence, missing, roundTitle } from "./evidence-words";

function node(name: string, changes: Partial<EvidenceNode> = {}): EvidenceNode {
  return { node: name, state: "kept", why: "", size_bytes: 1024, ranks: [0, 1], stacks: [0], missing: [], ...changes };
}

function round(...nodes: EvidenceNode[]): EvidenceRound {
  const size_bytes = nodes.reduce((sum, each) => sum + each.size_bytes, 0);
  return { attempt: 1, round: 3, has_failed: true, cause: "", kept_at: null, size_bytes, nodes, hooks: [] };
}

test("what is kept is told with who keeps it, and what is away is named", () => {
  const away = node("node-b", { state: "unreachable", why: "node-b is not heard." });
  const told = round(node("node-a", { missing: ["The stack of rank 1: it stood still."] }), away);
  expect(keptSentence(told)).toBe("1 KiB on 1 of 2 nodes, with the stacks of 1 rank.");
  expect(absent(told)).toEqual([away]);
  expect(missing(told)).toEqual(["node-a: The stack of rank 1: it stood still."]);
  expect(isKept(told)).toBe(true);
});

test("a round of which no node has anything says so", () => {
  const told = round(node("node-a", { state: "none", size_bytes: 0 }));
  expect(isKept(told)).toBe(false);
  expect(keptSentence(told)).toBe("No node can give anything of it now.");
  expect(keptSentence(round())).toBe("");
});

test("an attempt without a round is named by itself", () => {
  expect(roundTitle({ attempt: 2, round: 0 })).toBe("Attempt 2");
  expect(roundTitle({ attempt: 2, round: 5 })).toBe("Round 5 of attempt 2");
});

test("a command is told with its end, and only exit code 0 is well", () => {
  const hook: HookOut = {
    node: "node-a",
    hook: "on_failure",
    index: 0,
    command: "nvidia-smi -q",
    outcome: "ended",
    exit_code: 3,
    took_s: 0.4,
    said: "ended with exit code 3",
    output: "",
    output_bytes: 0,
    ended_at: "2026-03-01T12:00:00Z",
  };
  expect(hookSentence(hook)).toContain("on_failure on node-a ended with exit code 3, after ");
  expect([isWell(hook), isWell({ ...hook, exit_code: 0 }), isWell({ ...hook, outcome: "timed_out", exit_code: null })]).toEqual([
    false,
    true,
    false,
  ]);
});

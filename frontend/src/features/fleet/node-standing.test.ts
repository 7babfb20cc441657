import { expect, test } from "vitest";
import { nodeWord, outOfUse } from "./node-standing";

const NODE = { state: "online", draining_since: null, is_drained: false, set_aside_at: null } as const;
const SINCE = "2026-11-30T12:00:00Z";

test("a node is draining until there is evidence that nothing is left", () => {
  expect(nodeWord({ ...NODE, draining_since: SINCE }).word).toBe("draining");
  expect(nodeWord({ ...NODE, draining_since: SINCE, is_drained: true }).word).toBe("drained");
  expect(nodeWord({ ...NODE, set_aside_at: SINCE }).word).toBe("set aside");
});

test("that a node is not heard matters more than that it is draining", () => {
  const silent = { ...NODE, state: "lost", draining_since: SINCE } as const;
  expect(nodeWord(silent).word).toBe("lost");
  expect(outOfUse(silent)).toBe("draining");
  expect(outOfUse(NODE)).toBeNull();
});

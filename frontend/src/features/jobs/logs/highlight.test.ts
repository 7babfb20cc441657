import { describe, expect, it } from "vitest";
import { partsOf, patternOf } from "./highlight";

const marked = (text: string, pattern: string, isCaseSensitive = false) =>
  partsOf(text, patternOf(pattern, isCaseSensitive))
    .map(({ text: part, isHit }) => (isHit ? `[${part}]` : part))
    .join("");

describe("marking hits", () => {
  it("marks each one and changes no text", () => {
    expect(marked("Loss 1, loss 22", "loss \\d+")).toBe("[Loss 1], [loss 22]");
    expect(marked("Loss 1, loss 22", "loss", true)).toBe("Loss 1, [loss] 22");
    expect(marked("nothing", "loss")).toBe("nothing");
  });

  it("knows Python's named groups, and marks nothing where it does not know the pattern", () => {
    expect(marked("step 4", "step (?P<step>\\d)")).toBe("[step 4]");
    expect(marked("step 4", "(?i:step)(")).toBe("step 4");
  });

  it("leaves empty matches and very long lines alone", () => {
    expect(marked("aaa", "b*")).toBe("aaa");
    expect(marked("a".repeat(600), "a")).toBe("a".repeat(600));
  });
});

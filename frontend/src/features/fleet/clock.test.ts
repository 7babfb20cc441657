import { expect, test } from "vitest";
import { clockMeaning, clockText, isClockOff } from "./clock";

const measured = (offset: number | null, error: number | null) => ({ clock_offset_s: offset, clock_error_s: error });

test("a clock that cannot be told from the hub's shows the error alone", () => {
  expect(clockText(measured(0.0001, 0.0002))).toBe("±0 ms");
  expect(clockText(measured(-0.003, 0.004))).toBe("±4 ms");
  expect(clockMeaning(measured(-0.003, 0.004))).toBe("This node's clock agrees with the hub's to within 4 ms.");
});

test("a clock that is ahead or behind says by how much, and what that means", () => {
  expect(clockText(measured(1.8, 0.001))).toBe("+1.8 s");
  expect(clockText(measured(-0.012, 0.001))).toBe("−12 ms");
  expect(clockText(measured(3600, 0.001))).toBe("+3600 s");
  expect(clockMeaning(measured(-2, 0.001))).toContain("2.0 s behind the hub's (±1 ms): the times of its records are off");
});

test("only a difference beyond half a second is called off, the error taken off first", () => {
  expect(isClockOff(measured(0.6, 0.05))).toBe(true);
  expect(isClockOff(measured(-0.6, 0.2))).toBe(false);
  expect(isClockOff(measured(0.4, 0))).toBe(false);
  expect(isClockOff(measured(null, null))).toBe(false);
});

test("what was not measured is not invented", () => {
  expect(clockText(measured(null, null))).toBeNull();
  expect(clockMeaning(measured(null, null))).toContain("has not been measured");
});

import { describe, expect, it } from "vitest";
import { doneOf, timeLeft } from "./time-left";

const TOLD = { state: "training" as const, step: 12_480, total: 50_000, time_left_s: 12_000 };

describe("how far a job is", () => {
  it("is a share of all steps, where these are known", () => {
    expect(doneOf(TOLD)).toBeCloseTo(0.2496);
    expect(doneOf({ step: 60, total: 50 })).toBe(1);
    expect(doneOf({ step: 60, total: null })).toBeNull();
    expect(doneOf({ step: null, total: 50 })).toBeNull();
    expect(doneOf({ step: 1, total: 0 })).toBeNull();
  });
});

describe("how long it has to go", () => {
  it("is what the hub tells", () => {
    expect(timeLeft(TOLD)).toBe("about 3 h 20 min left");
    expect(timeLeft({ ...TOLD, time_left_s: 0 })).toBe("less than 1 min left");
  });

  it("says so where it is not known", () => {
    expect(timeLeft({ ...TOLD, time_left_s: null })).toBe("time left not known yet");
  });

  it("is not told of a job that is over, restarts, or does not say how many steps there are", () => {
    expect(timeLeft({ ...TOLD, state: "succeeded" })).toBeNull();
    expect(timeLeft({ ...TOLD, state: "restarting" })).toBeNull();
    expect(timeLeft({ ...TOLD, total: null })).toBeNull();
  });
});

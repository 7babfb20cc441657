import { describe, expect, it } from "vitest";
import { doneOf, limitLeft, timeLeft } from "./time-left";

const TOLD = { state: "training" as const, step: 12_480, total: 50_000, time_left_s: 12_000, time_limit: null };

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

describe("a limit of time", () => {
  const NOW = Date.parse("2026-11-30T12:00:00Z");
  const LIMIT = { limit_s: 7200, left_s: 840, is_up_at: "2026-11-30T12:14:00Z", is_too_short: false };
  const LIMITED = { ...TOLD, time_limit: LIMIT };

  it("is told beforehand, and shrinks while the job runs", () => {
    expect(limitLeft(LIMITED, NOW)).toBe("time limit: about 14 min left");
    expect(limitLeft(LIMITED, NOW + 10 * 60_000)).toBe("time limit: about 4 min left");
    expect(limitLeft(LIMITED, NOW + 20 * 60_000)).toBe("time limit: less than 1 min left");
  });

  it("stands still while the job waits", () => {
    const waits = { ...LIMITED, state: "queued" as const, time_limit: { ...LIMIT, is_up_at: null } };
    expect(limitLeft(waits, NOW)).toBe("time limit: about 14 min of running");
  });

  it("is said to come first where the job has more to train", () => {
    const short = { ...LIMITED, time_limit: { ...LIMIT, is_too_short: true } };
    expect(limitLeft(short, NOW)).toBe("time limit comes first: about 14 min left");
    expect(timeLeft(short)).toBe("about 3 h 20 min still to train");
  });

  it("is not told of a job without one, or that is over or being stopped", () => {
    expect(limitLeft(TOLD, NOW)).toBeNull();
    expect(limitLeft({ ...LIMITED, state: "stopping" }, NOW)).toBeNull();
    expect(limitLeft({ ...LIMITED, state: "stopped" }, NOW)).toBeNull();
  });
});

import { describe, expect, it } from "vitest";
import { aJob, aRound } from "../job.fixture";
import { isMerged, linesAround, logAddress, logPlace } from "./log-address";

const rounds = [aRound(1, ["node-1"]), aRound(2, ["node-1", "node-2"])];
const of = (query: string, job = aJob({ round: 2 })) => logAddress(job, rounds, new URLSearchParams(query));

describe("the log in the address", () => {
  it("is the newest round of rank 0 where nothing is said", () => {
    expect(of("")).toEqual({ job: 4, attempt: 1, round: 2, rank: 0, stream: "stdout" });
  });

  it("is what is said, and nonsense is nothing said", () => {
    expect(of("attempt=1&round=1&rank=all&stream=both")).toEqual({ job: 4, attempt: 1, round: 1, rank: "all", stream: "both" });
    expect(of("rank=x&stream=y")).toMatchObject({ rank: 0, stream: "stdout" });
  });

  it("begins with the rank that failed", () => {
    const failure = { rank: 3, round: 2 } as never;
    expect(of("", aJob({ state: "failed", round: 2, failure }))).toMatchObject({ rank: 3, stream: "stderr" });
  });

  it("is none before the first round", () => {
    expect(logAddress(aJob({ round: null, attempt: null }), [], new URLSearchParams())).toBeNull();
  });

  it("has a place: a line, a time, or the end", () => {
    expect(logPlace(new URLSearchParams("line=40&at=2026"))).toEqual({ line: "40" });
    expect(logPlace(new URLSearchParams("at=2026"))).toEqual({ at: "2026" });
    expect(logPlace(new URLSearchParams(""))).toBeNull();
  });

  it("leads to a moment of one rank or of all, both merged", () => {
    const query = new URLSearchParams(linesAround({ attempt: 1, round: 2, rank: 3, at: "2026-11-30T12:00:00Z" }));
    expect(of(query.toString())).toEqual({ job: 4, attempt: 1, round: 2, rank: 3, stream: "both" });
    expect(logPlace(query)).toEqual({ at: "2026-11-30T12:00:00Z" });
    expect(isMerged(of(linesAround({ attempt: 1, round: 2 }).slice(1))!)).toBe(true);
  });
});

/** Which log stands in the page's address, and where in it. */
import type { JobOut, LogAddress, LogPlace, RoundOut } from "@/api";

type Told = Pick<JobOut, "id" | "attempt" | "round" | "state" | "failure">;

/** Null: no round was formed yet, so that there is nothing to show. */
export function logAddress(job: Told, rounds: readonly RoundOut[], params: URLSearchParams): LogAddress | null {
  const newest = rounds.at(-1);
  const attempt = job.attempt ?? newest?.attempt;
  const round = job.round ?? newest?.number;
  if (attempt === undefined || round === undefined) return null;
  // Of a job that has failed, what the failed rank said last is looked for first.
  const failure = job.state === "failed" ? job.failure : null;
  return {
    job: job.id,
    attempt: Number(params.get("attempt") ?? attempt),
    round: Number(params.get("round") ?? round),
    rank: rankIn(params.get("rank"), failure?.rank ?? 0),
    stream: streamIn(params.get("stream"), failure === null ? "stdout" : "stderr"),
  };
}

function rankIn(text: string | null, usual: number): number | "all" {
  if (text === "all") return text;
  return text !== null && /^\d+$/.test(text) ? Number(text) : usual;
}

function streamIn(text: string | null, usual: LogAddress["stream"]): LogAddress["stream"] {
  return text === "stdout" || text === "stderr" || text === "both" ? text : usual;
}

/** A line goes before a time; an address with neither is of the log's end. */
export function logPlace(params: URLSearchParams): LogPlace {
  const [line, at] = [params.get("line"), params.get("at")];
  return line !== null ? { line } : at !== null ? { at } : null;
}

/** Whether lines of several streams are mixed, so that each has to say whose it is. */
export function isMerged({ rank, stream }: LogAddress): boolean {
  return rank === "all" || stream === "both";
}

export interface Moment {
  attempt: number;
  round: number;
  rank?: number | null | undefined;
  at?: string | undefined;
}

/** The address of what was written around a moment: by one rank, or by all. */
export function linesAround({ attempt, round, rank, at }: Moment): string {
  const query = new URLSearchParams({ tab: "logs", attempt: String(attempt), round: String(round), rank: String(rank ?? "all"), stream: "both" });
  if (at !== undefined) query.set("at", at);
  return `?${query.toString()}`;
}

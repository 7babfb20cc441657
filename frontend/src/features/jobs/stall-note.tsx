import { Link, useSearchParams } from "wouter";
import type { StandingJob } from "@/api";

/** Below the sentence of a job that stands still: the way to where its ranks stand. */
export function StallNote({ job }: { job: StandingJob }) {
  const [params] = useSearchParams();
  if (job.state !== "stalled") return null;
  const there = new URLSearchParams(params);
  there.set("tab", "stacks");
  if (job.stall?.rank !== null && job.stall?.rank !== undefined) there.set("rank", String(job.stall.rank));
  return (
    <p>
      <Link href={`?${there}`}>Show where its ranks stand</Link>
    </p>
  );
}

import type { StandingJob } from "@/api";
import { serverNow } from "@/lib/clock";
import { useTicking } from "@/ui/use-tick";
import { ladderText } from "./stop-ladder";

/** The grace, counting down by the hub's clock. */
export function StopProgress({ job }: { job: StandingJob }) {
  const text = useTicking(() => ladderText(job, serverNow()));
  return <span data-testid="stop-ladder">{text}</span>;
}

import type { JobOut } from "@/api";
import { serverNow } from "@/lib/clock";
import { useTick } from "@/ui/use-tick";
import { ladderText } from "./stop-ladder";

/** The grace, counting down by the hub's clock. */
export function StopProgress({ job }: { job: JobOut }) {
  useTick();
  return <span data-testid="stop-ladder">{ladderText(job, serverNow())}</span>;
}

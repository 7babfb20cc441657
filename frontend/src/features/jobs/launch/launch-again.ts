/** A job as the form begins with it when it is launched again. */
import type { JobIn, StandingJob } from "@/api";

/** Values that the hub shows masked stay so: it puts in those of the job that this is a copy of. */
export function againFrom(job: StandingJob): JobIn {
  const { checks_said: _, ...placing } = job.placing;
  return { ...job.spec, ...placing, name: job.name, labels: job.labels, notes: job.notes, copy_of: job.id };
}

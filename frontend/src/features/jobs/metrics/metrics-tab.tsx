import { lazy, Suspense } from "react";
import type { StandingJob } from "@/api";
import { Boundary } from "@/ui/boundary";
import { Loading } from "@/ui/loading";

/** Charts are drawn by a library of their own, which is loaded when somebody looks at them. */
const MetricsPanel = lazy(() => import("./metrics-panel").then((part) => ({ default: part.MetricsPanel })));

export function MetricsTab({ job }: { job: StandingJob }) {
  return (
    <Boundary>
      <Suspense fallback={<Loading what="this part of the page" />}>
        <MetricsPanel job={job} />
      </Suspense>
    </Boundary>
  );
}

import { useState } from "react";
import { useSearchParams } from "wouter";
import { useMetrics, type StandingJob, type MetricsOut } from "@/api";
import { plural } from "@/lib/format";
import { ENDED } from "@/lib/states";
import { Loading } from "@/ui/loading";
import { Notice } from "@/ui/notice";
import { Refused } from "@/ui/refused";
import { MetricChart } from "./metric-chart";
import { MetricsControls } from "./metrics-controls";
import { MetricsTable } from "./metrics-table";
import { NoMetrics } from "./no-metrics";
import { namesAtFirst, readView, writeView, type MetricsView } from "./view";
import "uplot/dist/uPlot.min.css";

/** Charts of all that the job reports, live. What is shown stands in the address. */
export function MetricsPanel({ job }: { job: StandingJob }) {
  const { view, change } = useView();
  const isOver = ENDED.has(job.state);
  // What there is says a short answer; from then on only what is shown is asked for.
  const known = useMetrics(job.id, NAMES_ALONE, { isOver });
  const names = view.names ?? namesAtFirst(known.data?.names ?? []);
  const isThere = (known.data?.names.length ?? 0) > 0;
  const metrics = useMetrics(job.id, { names, ...rangeOf(view) }, { isOver, isWanted: isThere });
  const told = metrics.data;
  const error = metrics.error ?? known.error;
  const again = () => Promise.all([known.refetch(), metrics.refetch()]);
  const tried = `Job ${job.id} was asked for its metrics.`;
  if (told === undefined && error !== null) return <Refused error={error} tried={tried} retry={again} />;
  if (known.data !== undefined && !isThere) return <NoMetrics job={job} />;
  if (told === undefined) return <Loading what="metrics" />;
  return (
    <section className="live" aria-label="Metrics">
      {error !== null && <Refused error={error} tried={tried} retry={again} />}
      {/* What torch told of itself is no metric of the job's own. */}
      {!told.names.some((each) => each.group === "job") && <NoMetrics job={job} />}
      <Told told={told} view={view} names={names} change={change} />
    </section>
  );
}

interface ToldProps {
  told: MetricsOut;
  view: MetricsView;
  names: string[];
  change: (change: Partial<MetricsView>) => void;
}

function Told({ told, view, names, change }: ToldProps) {
  const [isTable, setTable] = useState(false);
  const shown = names.flatMap((name) => told.series.find((each) => each.name === name) ?? []);
  return (
    <>
      <MetricsControls told={told} view={view} names={names} isTable={isTable} onView={change} onTable={setTable} />
      <NotKept told={told} />
      {view.axis === "step" && !isTable && (
        <p className="quiet small">Steps that were done again after a restart are shown as they were done last.</p>
      )}
      {shown.length === 0 && told.names.some((each) => each.group === "job") && <p className="quiet">Choose a metric to see how it went.</p>}
      {isTable && <MetricsTable series={shown} rounds={told.rounds} />}
      {!isTable &&
        shown.map((series) => (
          <MetricChart
            key={series.name}
            series={series}
            rounds={told.rounds}
            axis={view.axis}
            span={view.span}
            isLog={view.logs.has(series.name)}
            onLog={() => change({ logs: flipped(view.logs, series.name) })}
            onSpan={(span) => change({ span })}
          />
        ))}
    </>
  );
}

function NotKept({ told }: { told: MetricsOut }) {
  if (told.not_kept.length === 0) return null;
  const least = plural(told.not_kept.length, "metric");
  return (
    <Notice tone="amber">
      A job has at most {told.most} metrics, the first that it reports. At least {least} more came, and nothing of them is
      kept: {told.not_kept.slice(0, 5).join(", ")} …
    </Notice>
  );
}

function useView() {
  const [params, setParams] = useSearchParams();
  const view = readView(params);
  const change = (what: Partial<MetricsView>) =>
    setParams(
      (held) => {
        writeView(held, { ...readView(held), ...what });
        return held;
      },
      { replace: true },
    );
  return { view, change };
}

function flipped(names: ReadonlySet<string>, name: string): Set<string> {
  const others = new Set(names);
  if (!others.delete(name)) others.add(name);
  return others;
}

const NAMES_ALONE = { names: [], from: null, to: null, points: 2 };

/** Steps that are looked at closely are a part of what is held already. */
function rangeOf({ axis, span }: MetricsView): { from: string | null; to: string | null } {
  if (axis === "step" || span === null) return { from: null, to: null };
  return { from: new Date(span.from).toISOString(), to: new Date(span.to).toISOString() };
}

import { useDocumentTitle, useMediaQuery } from "@mantine/hooks";
import { Link } from "wouter";
import { Refusal, useJob, useLiveStatus, useTimeline, useTopic, type JobOut, type TimelineOut } from "@/api";
import { ENDED } from "@/lib/states";
import { Empty } from "@/ui/empty";
import { Loading } from "@/ui/loading";
import { Refused } from "@/ui/refused";
import { Attempts } from "./attempts";
import { FailureCard } from "./failure-card";
import { FourNumbers } from "./four-numbers";
import { Headline } from "./headline";
import { JobHeader } from "./job-header";
import { JobLabels } from "./job-labels";
import { JobTabs } from "./job-tabs";
import { KnownTroubles } from "./known-troubles";
import { StallNote } from "./stall-note";
import { Recovery } from "./timeline/recovery";
import { Timeline } from "./timeline/timeline";
import { Why } from "./why";
import { Workers } from "./workers";
import classes from "./job-page.module.css";

/** One job: is it training, what happened, what can I do; in that order from top to bottom. */
export function JobPage({ id }: { id: number }) {
  useTopic(`job:${id}`);
  const job = useJob(id);
  const isStale = useLiveStatus().kind === "stale";
  useDocumentTitle(titleOf(job.data, isStale));
  if (job.data !== undefined) return <Job job={job.data} />;
  if (job.error instanceof Refusal && job.error.status === 404) return <NoSuchJob id={id} />;
  if (job.error !== null) return <Refused error={job.error} tried={`Job ${id} was asked for.`} retry={job.refetch} />;
  return <p className="quiet">Asking the hub for job {id} …</p>;
}

/** Of a page in the background the title is all that is seen, so it must not claim a state that is old. */
function titleOf(job: JobOut | undefined, isStale: boolean): string {
  if (job === undefined) return "Job · Regroup";
  return `${isStale && !ENDED.has(job.state) ? "not live" : job.state} · ${job.name} · Regroup`;
}

function Job({ job }: { job: JobOut }) {
  const isNarrow = useMediaQuery("(max-width: 720px)", false, { getInitialValueInEffect: false });
  const timeline = useTimeline(job.id, job.timeline_version);
  const happened = timeline.data;
  const drawn = happened ? drawnOf(happened, job) : <Awaited of={timeline} />;
  // Why it could not start is said above already; a card is for the failure of a worker.
  const failure = job.state === "failed" && job.failure?.said !== job.state_reason ? job.failure : null;
  return (
    <div className={classes.page}>
      <JobHeader job={job} />
      <JobLabels job={job} />
      <div className={`${classes.standing} live`}>
        <Headline job={job} />
        <Why job={job} />
        <StallNote job={job} />
        <KnownTroubles job={job} />
        <Attempts job={job} />
      </div>
      {failure !== null && <FailureCard failure={failure} attempt={job.attempt} />}
      <FourNumbers job={job} rounds={happened?.rounds ?? []} />
      {!isNarrow && drawn}
      <div className={classes.lower}>
        <Workers job={job} rounds={happened?.rounds ?? []} />
        <JobTabs job={job} rounds={happened?.rounds ?? []} timeline={isNarrow ? drawn : undefined} />
      </div>
    </div>
  );
}

/** In the timeline's place while it is not there. */
function Awaited({ of }: { of: ReturnType<typeof useTimeline> }) {
  return (
    <div className={classes.awaited}>
      {of.isLoading && <Loading what="the timeline" />}
      {of.error !== null && <Refused error={of.error} tried="The timeline was asked for." retry={of.refetch} />}
    </div>
  );
}

/** A job that no node ever worked on has nothing to draw. */
function drawnOf(happened: TimelineOut, job: JobOut) {
  if (happened.lanes.length === 0) return undefined;
  return (
    <div>
      <Timeline timeline={happened} isOver={ENDED.has(job.state)} />
      <Recovery job={job} timeline={happened} />
    </div>
  );
}

function NoSuchJob({ id }: { id: number }) {
  return (
    <Empty title={`There is no job ${id}.`}>
      <p>
        The number in the address belongs to no job of this hub. <Link href="/jobs">Show all jobs</Link>
      </p>
    </Empty>
  );
}

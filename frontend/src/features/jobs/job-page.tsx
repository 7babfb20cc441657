import { useDocumentTitle, useMediaQuery } from "@mantine/hooks";
import { Link } from "wouter";
import {
  Refusal,
  standingOf,
  useJob,
  useStaleSince,
  useTimeline,
  useTimelineKept,
  useTopic,
  type RoundOut,
  type StandingJob,
  type TimelineOut,
} from "@/api";
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
  const job = useJob(id, standingOf);
  const isStale = useStaleSince() !== null;
  useDocumentTitle(titleOf(job.data, isStale));
  if (job.data !== undefined) return <Job job={job.data} />;
  if (job.error instanceof Refusal && job.error.status === 404) return <NoSuchJob id={id} />;
  if (job.error !== null) return <Refused error={job.error} tried={`Job ${id} was asked for.`} retry={job.refetch} />;
  return <p className="quiet">Asking the hub for job {id} …</p>;
}

/** Of a page in the background the title is all that is seen, so it must not claim a state that is old. */
function titleOf(job: StandingJob | undefined, isStale: boolean): string {
  if (job === undefined) return "Job · Regroup";
  return `${isStale && !ENDED.has(job.state) ? "not live" : job.state} · ${job.name} · Regroup`;
}

/** It is rendered when the job changes, not when it goes on: what moves is asked for where it is shown. */
function Job({ job }: { job: StandingJob }) {
  const isNarrow = useMediaQuery("(max-width: 720px)", false, { getInitialValueInEffect: false });
  const { rounds, isEmpty } = useTimeline(job.id, headOf).data ?? UNKNOWN;
  useTimelineKept(job.id);
  const drawn = isEmpty ? undefined : <Happened job={job} />;
  // Why it could not start is said above already; a card is for the failure of a worker.
  const failure = job.state === "failed" && job.failure?.said !== job.state_reason ? job.failure : null;
  return (
    <div className={classes.page}>
      <JobHeader job={job} />
      <JobLabels job={job} />
      <div className={`${classes.standing} live`}>
        <Headline id={job.id} />
        <Why job={job} />
        <StallNote job={job} />
        <KnownTroubles job={job} />
        <Attempts job={job} />
      </div>
      {failure !== null && <FailureCard failure={failure} attempt={job.attempt} />}
      <FourNumbers job={job} rounds={rounds} />
      {!isNarrow && drawn}
      <div className={classes.lower}>
        <Workers id={job.id} rounds={rounds} />
        <JobTabs job={job} rounds={rounds} timeline={isNarrow ? drawn : undefined} />
      </div>
    </div>
  );
}

interface Head {
  rounds: RoundOut[];
  /** Of a job that no node ever worked on there is nothing to draw. */
  isEmpty: boolean;
}

const UNKNOWN: Head = { rounds: [], isEmpty: false };

function headOf({ rounds, lanes }: TimelineOut): Head {
  return { rounds, isEmpty: lanes.length === 0 };
}

/** What happened so far. */
function Happened({ job }: { job: StandingJob }) {
  const { data: happened, isLoading, error, refetch } = useTimeline(job.id);
  if (happened === undefined) {
    return (
      <div className={classes.awaited}>
        {isLoading && <Loading what="the timeline" />}
        {error !== null && <Refused error={error} tried="The timeline was asked for." retry={refetch} />}
      </div>
    );
  }
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

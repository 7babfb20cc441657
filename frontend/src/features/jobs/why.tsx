import { Popover, UnstyledButton } from "@mantine/core";
import type { JobOut } from "@/api";
import { formatClock, formatMoment } from "@/lib/format";
import { JOB_STATES } from "@/lib/states";
import { StateWord } from "@/ui/state-word";
import classes from "./why.module.css";

/** What happened: one sentence, always there, and the sentences before it. */
export function Why({ job }: { job: JobOut }) {
  return (
    <p className={classes.why}>
      <span key={job.state_reason} className="changed" data-testid="why">
        {job.state_reason || `${JOB_STATES[job.state].meaning}`}
      </span>{" "}
      <span className={classes.since} title={formatMoment(job.state_since)}>
        {capital(job.state)} since {formatClock(job.state_since)}.
      </span>{" "}
      {job.past.length > 0 && <Past job={job} />}
    </p>
  );
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function Past({ job }: { job: JobOut }) {
  return (
    <Popover position="bottom-start" width="min(640px, 94vw)" transitionProps={{ duration: 0 }} trapFocus>
      <Popover.Target>
        <UnstyledButton className={classes.past}>
          past <span aria-hidden="true">▾</span>
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <ol className={classes.list} tabIndex={0} aria-label="Earlier states, newest first">
          {job.past.map((sentence) => (
            <li key={`${sentence.at}${sentence.state}${sentence.says}`}>
              <time className="mono small" dateTime={sentence.at} title={formatMoment(sentence.at)}>
                {formatClock(sentence.at)}
              </time>
              <StateWord word={sentence.state} look={JOB_STATES[sentence.state]} />
              <span>{sentence.says}</span>
            </li>
          ))}
        </ol>
      </Popover.Dropdown>
    </Popover>
  );
}

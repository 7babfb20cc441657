import type { StandingJob } from "@/api";
import { serverNow } from "@/lib/clock";
import { formatAge, formatClock, formatMoment } from "@/lib/format";
import { JOB_STATES } from "@/lib/states";
import { StateWord } from "@/ui/state-word";
import { useTicking } from "@/ui/use-tick";
import { More, MoreList } from "./more";
import classes from "./why.module.css";

/** What goes on and why: one sentence with its age, always there, and the sentences before it. */
export function Why({ job }: { job: StandingJob }) {
  const { sentence, since } = job.headline;
  return (
    <p className={classes.why}>
      {/* Another moment is another sentence. A number in it that counts down is not. */}
      <span key={since} className="changed" data-testid="why">
        {sentence || JOB_STATES[job.state].meaning}
      </span>{" "}
      <span className={classes.since} title={formatMoment(since)}>
        {capital(job.state)} since {formatClock(since)}, <Lasting since={since} />
      </span>{" "}
      {job.past.length > 0 && <Past job={job} />}
    </p>
  );
}

function Lasting({ since }: { since: string }) {
  const age = useTicking(() => formatAge((serverNow() - Date.parse(since)) / 1000));
  return (
    <>
      {age === "now" ? "just" : "for"} <span className={classes.age}>{age}.</span>
    </>
  );
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function Past({ job }: { job: StandingJob }) {
  return (
    <More word="past">
      <MoreList label="Earlier states, newest first">
        {job.past.map((sentence) => (
          <li key={`${sentence.at}${sentence.state}${sentence.says}`}>
            <time className="mono small" dateTime={sentence.at} title={formatMoment(sentence.at)}>
              {formatClock(sentence.at)}
            </time>
            <StateWord word={sentence.state} look={JOB_STATES[sentence.state]} />
            <span>{sentence.says}</span>
          </li>
        ))}
      </MoreList>
    </More>
  );
}

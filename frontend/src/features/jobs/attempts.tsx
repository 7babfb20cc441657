import type { AttemptOut, StandingJob } from "@/api";
import { serverNow } from "@/lib/clock";
import { formatClock, formatMoment, plural } from "@/lib/format";
import { within } from "@/lib/phrases";
import { useTicking } from "@/ui/use-tick";
import { lastEnded, nextText } from "./attempt-words";
import { More, MoreList } from "./more";
import classes from "./attempts.module.css";

/** Why the attempt before ended and when the next one follows; nothing for a job that needed just one. */
export function Attempts({ job }: { job: StandingJob }) {
  const before = lastEnded(job);
  const next = useTicking(() => nextText(job, serverNow()));
  if (before === null && next === "") return null;
  return (
    <p className={classes.line} data-testid="attempts">
      {before !== null && (
        <>
          Attempt {before.number} ended{" "}
          <span title={formatMoment(before.ended_at ?? before.began_at)}>at {formatClock(before.ended_at ?? "")}</span> after{" "}
          {plural(before.rounds, "round")}: {within(before.why) || "why is not known."}{" "}
        </>
      )}
      {next} {job.attempts.length > 1 && <All attempts={job.attempts} />}
    </p>
  );
}

function All({ attempts }: { attempts: AttemptOut[] }) {
  return (
    <More word={`all ${attempts.length} attempts`}>
      <MoreList label="Attempts, newest first">
        {attempts.map((attempt) => (
          <li key={attempt.id}>
            <b>{attempt.number}</b>
            <span className="mono small" title={formatMoment(attempt.began_at)}>
              {formatClock(attempt.began_at)}–{attempt.ended_at === null ? "now" : formatClock(attempt.ended_at)}
            </span>
            <span>
              <span className="quiet">
                {plural(attempt.rounds, "round")} on {attempt.nodes.join(", ")}.
              </span>{" "}
              {attempt.why}
            </span>
          </li>
        ))}
      </MoreList>
    </More>
  );
}

import type { StandingJob } from "@/api";
import classes from "./known-troubles.module.css";

/** What a job suffers from where the answer is known: what says so, and what to do. */
export function KnownTroubles({ job }: { job: StandingJob }) {
  if (job.troubles.length === 0) return null;
  return (
    <ul className={classes.troubles} aria-label="Known troubles">
      {job.troubles.map((trouble) => (
        <li key={trouble.kind} data-testid={`trouble-${trouble.kind}`}>
          <span>{trouble.sentence}</span> <span className={classes.source}>Known from {trouble.source}.</span>
          <p className={classes.answer}>{trouble.what_to_do}</p>
        </li>
      ))}
    </ul>
  );
}

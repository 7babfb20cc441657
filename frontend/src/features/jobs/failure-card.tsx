import type { FailureOut } from "@/api";
import { EvidenceLink } from "./evidence-link";
import { LinesLink } from "./logs/lines-link";
import classes from "./failure-card.module.css";

/** Why the job failed: the exception, where it was raised, and where that was read. */
export function FailureCard({ failure, attempt }: { failure: FailureOut; attempt: number | null }) {
  return (
    <section className={classes.card} aria-label="Failure">
      <p className={classes.said}>{failure.said}</p>
      {failure.exception !== null && <pre className={classes.exception}>{failure.exception}</pre>}
      <p className={classes.place}>
        {failure.file !== null && (
          <>
            Raised at <span className="mono">{failure.file}{failure.line === null ? "" : `:${failure.line}`}</span>.{" "}
          </>
        )}
        {failure.read_from !== null && <>Read from its {failure.read_from}. </>}
        {failure.round !== null && <>It was in round {failure.round}. </>}
        {failure.round !== null && attempt !== null && (
          <EvidenceLink attempt={attempt} round={failure.round}>
            Show what was kept of it
          </EvidenceLink>
        )}{" "}
        {failure.round !== null && attempt !== null && (
          <LinesLink moment={{ attempt, round: failure.round, rank: failure.rank }}>Show its last lines</LinesLink>
        )}
      </p>
      {failure.traceback !== "" && (
        <details>
          <summary>Traceback</summary>
          <pre className={classes.traceback} tabIndex={0}>
            {failure.traceback}
          </pre>
        </details>
      )}
    </section>
  );
}

import { Button } from "@mantine/core";
import { useEffect, useRef } from "react";
import { useDownloadEvidence, type EvidenceRound, type HookOut, type StandingJob } from "@/api";
import { formatBytes, formatClock, formatMoment } from "@/lib/format";
import { Refused } from "@/ui/refused";
import { absent, hookSentence, isKept, isWell, keptSentence, missing, roundKey, roundTitle } from "./evidence-words";
import classes from "./evidence-tab.module.css";

interface Props {
  job: StandingJob;
  round: EvidenceRound;
  /** Somebody came for this one: it is brought into sight. */
  isWanted: boolean;
}

/** One round that failed: why, what is kept of it and where, and what the job's own commands said. */
export function EvidenceOfRound({ job, round, isWanted }: Props) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isWanted) place.current?.scrollIntoView({ block: "nearest" });
  }, [isWanted]);
  const title = roundTitle(round);
  return (
    <section
      ref={place}
      className={classes.round}
      aria-label={title}
      aria-current={isWanted || undefined}
      data-evidence={roundKey(round)}
    >
      <div className={classes.head}>
        <h3>{title}</h3>
        {isKept(round) && <Download job={job} round={round} />}
      </div>
      <p className={classes.cause}>{round.cause || (round.has_failed ? "Why it failed is not known." : "It did not fail.")}</p>
      <p className="quiet small">
        {keptSentence(round)}
        {round.kept_at !== null && (
          <>
            {" "}
            Put together at <time title={formatMoment(round.kept_at)}>{formatClock(round.kept_at)}</time>.
          </>
        )}
      </p>
      {absent(round).map((node) => (
        <p key={node.node} className="small" data-absent={node.node}>
          Not from {node.node}: {node.why}
        </p>
      ))}
      <Missing what={missing(round)} />
      {round.hooks.map((hook) => (
        <Hook key={`${hook.hook} ${hook.node} ${hook.index} ${hook.ended_at}`} hook={hook} />
      ))}
    </section>
  );
}

function Download({ job, round }: Omit<Props, "isWanted">) {
  const download = useDownloadEvidence();
  const fetchIt = () => download.mutate({ job: job.id, attempt: round.attempt, round: round.round });
  return (
    <div className={classes.download}>
      <Button
        size="compact-xs"
        variant="default"
        loading={download.isPending}
        onClick={fetchIt}
        aria-label={`Download the evidence of ${roundTitle(round)}`}
      >
        Download
      </Button>
      {download.error !== null && <Refused error={download.error} tried="The evidence was asked of the nodes." retry={fetchIt} />}
    </div>
  );
}

function Missing({ what }: { what: string[] }) {
  if (what.length === 0) return null;
  return (
    <details className="small">
      <summary>What could not be had ({what.length})</summary>
      <ul className={classes.missing}>
        {what.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </details>
  );
}

function Hook({ hook }: { hook: HookOut }) {
  return (
    <div className={classes.hook} data-hook={`${hook.hook} ${hook.index}`}>
      <p>
        {!isWell(hook) && <span aria-hidden="true">✕ </span>}
        {hookSentence(hook)} <code className="mono small">{hook.command}</code>
      </p>
      {hook.output === "" ? (
        <p className="quiet small">{hook.output_bytes === 0 ? "It wrote nothing." : "What it wrote was not kept."}</p>
      ) : (
        <details open={!isWell(hook)}>
          <summary className="small">
            The end of what it wrote{hook.output_bytes > hook.output.length ? `, of ${formatBytes(hook.output_bytes)} in all` : ""}
          </summary>
          <pre className={classes.output} tabIndex={0}>
            {hook.output}
          </pre>
        </details>
      )}
    </div>
  );
}

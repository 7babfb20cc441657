import { useEvidence, type StandingJob } from "@/api";
import { Empty } from "@/ui/empty";
import { Loading } from "@/ui/loading";
import { Refused } from "@/ui/refused";
import { useSearchParams } from "wouter";
import { EvidenceOfRound } from "./evidence-round";
import { roundKey } from "./evidence-words";
import classes from "./evidence-tab.module.css";

/** What was kept of rounds that failed, newest first, and what the job's own commands said. */
export function EvidenceTab({ job }: { job: StandingJob }) {
  const evidence = useEvidence(job.id);
  const [params] = useSearchParams();
  const wanted = params.get("evidence");
  if (evidence.data === undefined) {
    if (evidence.error === null) return <Loading what="the evidence" />;
    return <Refused error={evidence.error} tried="The evidence was asked for." retry={evidence.refetch} />;
  }
  const { level, rounds } = evidence.data;
  return (
    <section className="live" aria-label="Evidence">
      {evidence.error !== null && <Refused error={evidence.error} tried="What is shown may be old." retry={evidence.refetch} />}
      {level === "off" && <p className="quiet">This job wants nothing kept (evidence: off). Its own commands run all the same.</p>}
      {rounds.length === 0 ? <Nothing /> : <Hidden />}
      <div className={classes.rounds}>
        {rounds.map((round) => (
          <EvidenceOfRound key={roundKey(round)} job={job} round={round} isWanted={wanted === roundKey(round)} />
        ))}
      </div>
    </section>
  );
}

function Nothing() {
  return (
    <Empty title="No round of this job has failed.">
      <p>
        When one does, stacks, last lines, error files and counters are kept here, taken before its workers are ended.
        Commands of the job&apos;s own (on_failure, on_end) are shown here too.
      </p>
    </Empty>
  );
}

function Hidden() {
  return (
    <p className="quiet small">
      Each file holds a page, index.html, that opens without a server. Values that look secret are hidden in it.
    </p>
  );
}

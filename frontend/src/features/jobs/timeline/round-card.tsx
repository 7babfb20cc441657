import type { RoundOut } from "@/api";
import { formatClock, formatCount, formatMoment, plural } from "@/lib/format";
import { EvidenceLink } from "../evidence-link";
import { LinesLink } from "../logs/lines-link";
import { marksOfRound } from "./moments";
import type { Picture } from "./picture";
import { RoundMarks } from "./round-marks";
import { CAUSES, consequenceLines } from "./round-words";
import classes from "./round-card.module.css";

/** The selected round: why it began, what says so, which ranks ended only because of that, and what is marked in it. */
export function RoundCard({ picture, index }: { picture: Picture; index: number }) {
  const round = picture.rounds[index];
  if (round === undefined) return null;
  return (
    <section className={classes.card} aria-label={`Round ${round.number}`}>
      <p className={classes.head}>
        <b>Round {round.number}</b> formed at <time title={formatMoment(round.formed_at)}>{formatClock(round.formed_at)}</time>:{" "}
        {plural(round.world_size, "rank")} on {round.nodes.join(", ")}.{" "}
        <LinesLink moment={{ attempt: round.attempt, round: round.number, at: round.formed_at }}>Show what it wrote first</LinesLink>
      </p>
      {round.restart === "start" ? <p>It was the first of attempt {round.attempt}.</p> : <Cause round={round} />}
      <RoundMarks picture={picture} marks={marksOfRound(picture, index)} />
    </section>
  );
}

function redone({ resumed_step, steps_redone }: RoundOut): string {
  if (resumed_step === null) return "not known: from where it went on was not reported";
  const from = `it went on from step ${formatCount(resumed_step)}`;
  return steps_redone === null ? `not known: ${from}` : `${formatCount(steps_redone)}: ${from}`;
}

function Cause({ round }: { round: RoundOut }) {
  const { cause, consequences } = round;
  if (cause === null) return <p>Why it began is not known yet.</p>;
  return (
    <>
      <p data-testid="cause">{cause.sentence || `Its cause: ${CAUSES[cause.kind]}.`}</p>
      {cause.rank !== null && round.number > 1 && (
        <p>
          <LinesLink moment={{ attempt: round.attempt, round: round.number - 1, rank: cause.rank }}>
            Show the last lines of rank {cause.rank} before
          </LinesLink>
        </p>
      )}
      <dl className={classes.facts}>
        <dt>Cause</dt>
        <dd>{CAUSES[cause.kind]}</dd>
        <dt>Known from</dt>
        <dd>{cause.source}</dd>
        <dt>Asked for</dt>
        <dd>{cause.planned ? "yes, by a person" : "no"}</dd>
        <dt>Charged to</dt>
        <dd>{round.charged ?? (round.restart === "membership" ? "nobody: a membership restart" : "nobody")}</dd>
        <dt>Consequences</dt>
        <dd>
          {consequences === null
            ? "thousands of ranks have ended since; these are not listed"
            : consequences.length === 0
              ? "no other rank ended with it"
              : consequenceLines(consequences).map((line) => <div key={line}>{line}</div>)}
        </dd>
        <dt>Steps redone</dt>
        <dd>{redone(round)}</dd>
      </dl>
      {round.restart === "failure" && (
        <p>
          <EvidenceLink attempt={round.attempt} round={round.number - 1}>
            {`Evidence of round ${round.number - 1}`}
          </EvidenceLink>
        </p>
      )}
    </>
  );
}

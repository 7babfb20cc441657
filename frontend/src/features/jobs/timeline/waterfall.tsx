import type { ReactNode, Ref } from "react";
import { UnstyledButton } from "@mantine/core";
import { useSearchParams } from "wouter";
import { useWaterfall, type StandingJob, type PhaseOut, type RoundOut, type TimelineOut } from "@/api";
import { WaterfallRanks } from "./waterfall-ranks";
import { axisOf, medianTick, wayBack, type Axis } from "./waterfall-scale";
import { AxisHead, Columns, Track } from "./waterfall-track";
import {
  PHASE_WORDS,
  formatTook,
  hasMoments,
  lastThrough,
  medianWords,
  standsAt,
  timesMeasured,
  wholeWay,
  whyMissing,
} from "./waterfall-words";
import classes from "./waterfall.module.css";

const NONE = "No moment of the way into this round is recorded: it began before moments were, or its nodes have told none yet.";

interface Props {
  ref: Ref<HTMLElement>;
  job: StandingJob;
  timeline: TimelineOut;
  round: RoundOut;
  isGoingOn: boolean;
}

/** Each phase of the way into a round to one scale, who was last in it, and how long it takes mostly. */
export function Waterfall({ ref, job, timeline, round, isGoingOn }: Props) {
  const [isOpen, toggle] = useRanksShown();
  const ranks = useWaterfall(job.id, round, isOpen);
  const rows = isOpen ? (ranks.data?.rows ?? []) : [];
  const axis = axisOf([...round.phases, ...rows.flatMap((row) => row.phases)]);
  return (
    <section ref={ref} tabIndex={-1} className={`${classes.waterfall} live`} aria-label="Waterfall">
      {!hasMoments(round) ? (
        <p className="quiet">{NONE}</p>
      ) : (
        <>
          <p className={classes.whole} data-testid="recovery">
            {wholeWay(round, isGoingOn)}
          </p>
          <div className={classes.box}>
            <Phases round={round} timeline={timeline} axis={axis} />
          </div>
          <UnstyledButton className={classes.open} aria-expanded={isOpen} onClick={toggle}>
            each node and rank <span aria-hidden="true">{isOpen ? "▴" : "▾"}</span>
          </UnstyledButton>
          {isOpen && <WaterfallRanks ranks={ranks} round={round} axis={axis} />}
        </>
      )}
    </section>
  );
}

/** Whether each rank is shown stands in the address. */
function useRanksShown(): [boolean, () => void] {
  const [params, setParams] = useSearchParams();
  const isOpen = params.get("ranks") === "shown";
  const change = (held: URLSearchParams) => {
    if (isOpen) held.delete("ranks");
    else held.set("ranks", "shown");
    return held;
  };
  return [isOpen, () => setParams(change, { replace: true })];
}

function Phases({ round, timeline, axis }: { round: RoundOut; timeline: TimelineOut; axis: Axis | null }) {
  const pace = round.phases.find((phase) => phase.name === "pace");
  const row = (phase: PhaseOut) => <PhaseRow key={phase.name} phase={phase} round={round} timeline={timeline} axis={axis} />;
  return (
    <table className={classes.table} data-testid="waterfall">
      <Columns />
      <thead>
        <tr>
          <th>Phase</th>
          <th>
            <AxisHead axis={axis} />
          </th>
          <th className={classes.num}>Took</th>
          <th>Last through</th>
          <th>Median of all restarts</th>
        </tr>
      </thead>
      <tbody>
        {wayBack(round.phases).map(row)}
        {round.unaccounted_s !== null && <Sum name="unaccounted" seconds={round.unaccounted_s} note="in none of the phases" />}
        {round.recovery_s !== null && <Sum name="in all" seconds={round.recovery_s} note="" />}
      </tbody>
      {pace !== undefined && <tbody className={classes.after}>{row(pace)}</tbody>}
    </table>
  );
}

interface RowProps {
  phase: PhaseOut;
  round: RoundOut;
  timeline: TimelineOut;
  axis: Axis | null;
}

function PhaseRow({ phase, round, timeline, axis }: RowProps) {
  const { word, meaning } = PHASE_WORDS[phase.name];
  // It is that of restarts: the first round of an attempt has nothing to be held against.
  const median = round.restart === "start" ? undefined : timeline.typical[phase.name];
  const times = timesMeasured(timeline.rounds, phase.name);
  if (phase.seconds === null) return <NotReported phase={phase} why={whyMissing(phase.name, round)} />;
  const tick = axis === null || median === undefined || times < 2 ? null : medianTick(phase, median, axis);
  return (
    <tr data-phase={phase.name}>
      <Name title={meaning}>{word}</Name>
      <td>
        {phase.name === "pace" ? (
          <span className={classes.note}>after the first step</span>
        ) : (
          <Track phases={[phase]} axis={axis} tick={tick} says={standsAt(phase, axis)} />
        )}
      </td>
      <td className={classes.num}>
        <data value={phase.seconds}>{formatTook(phase.seconds)}</data>
      </td>
      <td className={classes.note}>{lastThrough(phase)}</td>
      <td className={classes.note}>{medianWords(phase.seconds, median, times)}</td>
    </tr>
  );
}

function NotReported({ phase, why }: { phase: PhaseOut; why: string }) {
  const { word, meaning } = PHASE_WORDS[phase.name];
  return (
    <tr data-phase={phase.name} className={classes.missing}>
      <Name title={meaning}>{word}</Name>
      <td colSpan={2} className={classes.num}>
        not reported
      </td>
      <td colSpan={2} className={classes.reason}>
        {why}
      </td>
    </tr>
  );
}

function Sum({ name, seconds, note }: { name: string; seconds: number; note: string }) {
  return (
    <tr className={classes.sum}>
      <Name>{name}</Name>
      <td />
      <td className={classes.num}>
        <data value={seconds}>{formatTook(seconds)}</data>
      </td>
      <td className={classes.note} colSpan={2}>
        {note}
      </td>
    </tr>
  );
}

function Name({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <th scope="row" title={title}>
      {children}
    </th>
  );
}

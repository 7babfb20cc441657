import type { PhaseOut } from "@/api";
import { barsOf, secondsOf, type Axis, type PhaseName } from "./waterfall-scale";
import { PHASE_WORDS, formatTook } from "./waterfall-words";
import classes from "./waterfall.module.css";

const ORDER = Object.keys(PHASE_WORDS) as PhaseName[];

interface Props {
  phases: readonly PhaseOut[];
  axis: Axis | null;
  /** In percent: where the phase ends mostly. */
  tick?: number | null;
  /** The phases in which this row was the last of all. */
  last?: ReadonlySet<PhaseName>;
  /** The same in words. */
  says: string;
}

/** Bars on the one axis. Neighbours differ in shade; which phase a bar is tell its place and its title. */
export function Track({ phases, axis, tick = null, last, says }: Props) {
  if (axis === null) return null;
  const secondsByName = new Map(phases.map(({ name, seconds }) => [name, seconds]));
  return (
    <>
      <div className={classes.track} aria-hidden="true">
        {barsOf(phases, axis).map(({ name, left, width }) => (
          <i
            key={name}
            data-dark={ORDER.indexOf(name) % 2 === 0 || undefined}
            data-last={last?.has(name) || undefined}
            style={{ left: `${left}%`, width: `${width}%` }}
            title={`${PHASE_WORDS[name].word} ${formatTook(secondsByName.get(name) ?? 0)}`}
          />
        ))}
        {tick !== null && <b style={{ left: `${tick}%` }} title="median" />}
      </div>
      <span className="visually-hidden">{says}</span>
    </>
  );
}

/** Seconds since the first moment. */
export function AxisHead({ axis }: { axis: Axis | null }) {
  if (axis === null) return <span className="visually-hidden">When</span>;
  const length = (axis.to - axis.from) / 1000;
  return (
    <>
      <div className={classes.axis} aria-hidden="true">
        {secondsOf(axis).map((at) => (
          <span key={at} style={{ left: `${(100 * at) / length}%` }}>
            {Number(at.toPrecision(3))} s
          </span>
        ))}
      </div>
      <span className="visually-hidden">When</span>
    </>
  );
}

/** The same widths wherever phases are listed, so that they stand on one axis. */
export function Columns() {
  return (
    <colgroup>
      <col className={classes.names} />
      <col />
      <col className={classes.seconds} />
      <col className={classes.words} />
      <col className={classes.words} />
    </colgroup>
  );
}

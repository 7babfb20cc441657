import { memo, useMemo, useState, type CSSProperties, type ReactNode } from "react";
import type { LogLineOut } from "@/api";
import { piecesOf, type Look, type Piece } from "@/lib/ansi";
import { formatClock, formatCount, formatMoment } from "@/lib/format";
import { partsOf } from "./highlight";
import classes from "./log-line.module.css";

interface Props {
  line: LogLineOut;
  /** Says whose it is and when it was written. */
  isNamed: boolean;
  hasTime: boolean;
  pattern: RegExp | null;
  /** The line that was jumped to. */
  isTarget: boolean;
}

/** Longer lines are cut until somebody wants all of it. */
const SHOWN_CHARACTERS = 1000;

/** One line of output: escaped, in its colours, with hits marked. */
export const LogLine = memo(function LogLine({ line, isNamed, hasTime, pattern, isTarget }: Props) {
  const [isWhole, setWhole] = useState(false);
  const pieces = useMemo(() => piecesOf(line.text), [line.text]);
  const length = pieces.reduce((sum, piece) => sum + piece.text.length, 0);
  const isCut = !isWhole && length > SHOWN_CHARACTERS;
  return (
    <div className={isTarget ? `${classes.line} ${classes.target}` : classes.line} data-target={isTarget || undefined}>
      {(isNamed || hasTime) && (
        <span className={classes.gutter} title={whose(line)}>
          {hasTime && <span className={classes.time}>{line.at === null ? "" : formatClock(line.at, true)}</span>}
          {isNamed && <span className={line.stream === "stderr" ? classes.err : classes.out}>{line.rank}</span>}
        </span>
      )}
      <span className={classes.text}>
        {(isCut ? cut(pieces) : pieces).map((piece, index) => (
          <Shown key={index} piece={piece} pattern={pattern} />
        ))}
        {isCut && (
          <button type="button" className={classes.more} onClick={() => setWhole(true)}>
            … show all {formatCount(length)} characters
          </button>
        )}
      </span>
    </div>
  );
});

/** For a pointer and for who listens: a line's place and time, and how well that is known. */
function whose({ rank, node, stream, at, within_s }: LogLineOut): string {
  const who = `Rank ${rank} on ${node}, ${stream}`;
  if (at === null) return `${who}; when it was written has not been noted yet`;
  if (within_s === null) return `${who}, written ${formatMoment(at)} or before`;
  return `${who}, written in the ${Math.max(0.1, within_s).toFixed(1)} s before ${formatMoment(at)}`;
}

function cut(pieces: Piece[]): Piece[] {
  let left = SHOWN_CHARACTERS;
  const kept: Piece[] = [];
  for (const piece of pieces) {
    if (left <= 0) break;
    kept.push({ ...piece, text: piece.text.slice(0, left) });
    left -= piece.text.length;
  }
  return kept;
}

function Shown({ piece, pattern }: { piece: Piece; pattern: RegExp | null }) {
  const parts = partsOf(piece.text, pattern);
  const content: ReactNode = parts.map(({ text, isHit }, index) => (isHit ? <mark key={index}>{text}</mark> : text));
  if (Object.keys(piece.look).length === 0) return content;
  return (
    <span className={looks(piece.look)} style={colours(piece.look)}>
      {content}
    </span>
  );
}

function looks({ bold, dim, italic, underline, strike, inverse, ink, paper }: Look): string {
  const isFree = typeof ink === "string" && !inverse;
  const names = { bold, dim, italic, underline, strike, inverse, free: isFree, boxed: paper !== undefined };
  const on = Object.entries(names).filter(([, isOn]) => isOn);
  return on.map(([name]) => classes[name]).join(" ");
}

/** Any colour may be asked for: the style sheet makes inks dark or light enough, and papers pale, to be read. */
function colours({ ink, paper }: Look): CSSProperties {
  return {
    ...(ink !== undefined && { "--ink-of-line": colour(ink) }),
    ...(ink !== undefined && { color: "var(--ink-of-line)" }),
    ...(paper !== undefined && { "--paper-of-line": colour(paper) }),
  } as CSSProperties;
}

function colour(named: number | string): string {
  return typeof named === "number" ? `var(--ansi-${named})` : named;
}

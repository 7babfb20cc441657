import { formatClock, formatMoment, plural } from "@/lib/format";
import { LinesLink } from "../logs/lines-link";
import { MARKS } from "./marks";
import { momentOf } from "./moments";
import type { Picture, PlacedMark } from "./picture";
import classes from "./round-card.module.css";

const MOST = 8;

/** What is marked in a round, each with the way to its lines; the last ones, where there are many. */
export function RoundMarks({ picture, marks }: { picture: Picture; marks: readonly PlacedMark[] }) {
  if (marks.length === 0) return null;
  const shown = marks.slice(-MOST);
  return (
    <>
      {shown.length < marks.length && <p className="quiet">{plural(marks.length - shown.length, "earlier mark")} of this round: see the table.</p>}
      <ul className={classes.marks} aria-label="Marked in this round">
        {shown.map((placed, index) => (
          <li key={index}>
            <time className="mono small" title={formatMoment(placed.mark.at)}>
              {formatClock(placed.mark.at, true)}
            </time>{" "}
            {placed.mark.says || MARKS[placed.mark.kind].word} <MarkLines picture={picture} placed={placed} />
          </li>
        ))}
      </ul>
    </>
  );
}

function MarkLines({ picture, placed }: { picture: Picture; placed: PlacedMark }) {
  const moment = momentOf(picture, placed);
  return moment === undefined ? null : <LinesLink moment={moment}>Show its lines</LinesLink>;
}

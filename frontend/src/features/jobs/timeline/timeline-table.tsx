import type { TimelineOut } from "@/api";
import { formatClock, formatDuration } from "@/lib/format";
import { PHASES } from "@/lib/states";
import table from "@/ui/table.module.css";
import { MARKS } from "./marks";
import classes from "./timeline.module.css";

interface Row {
  at: string;
  where: string;
  what: string;
}

/** The timeline in words, in order of time: for screen readers, and for copying. */
export function TimelineTable({ timeline }: { timeline: TimelineOut }) {
  return (
    <div className={`${table.scroll} ${classes.table}`} tabIndex={0} role="region" aria-label="Timeline as a table">
      <table className={table.table}>
        <thead>
          <tr>
            <th>Time</th>
            <th>Where</th>
            <th>What</th>
          </tr>
        </thead>
        <tbody>
          {rowsOf(timeline).map((row, index) => (
            <tr key={index}>
              <td className="mono">{formatClock(row.at, true)}</td>
              <td>{row.where}</td>
              <td>{row.what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function rowsOf({ rounds, lanes, marks }: TimelineOut): Row[] {
  const found: Row[] = [
    ...rounds.map((round) => ({
      at: round.formed_at,
      where: round.nodes.join(", "),
      what: `Round ${round.number} formed, world size ${round.world_size}. ${round.why}`,
    })),
    ...marks.map((mark) => ({ at: mark.at, where: mark.node ?? "job", what: mark.says || MARKS[mark.kind].word })),
    ...lanes.flatMap((lane) =>
      lane.spans.map((span) => ({ at: span.began_at, where: lane.node, what: spanText(span) })),
    ),
  ];
  return found.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function spanText({ phase, began_at, ended_at }: TimelineOut["lanes"][number]["spans"][number]): string {
  const { meaning } = PHASES[phase];
  if (ended_at === null) return `${meaning}, still`;
  return `${meaning} for ${formatDuration((Date.parse(ended_at) - Date.parse(began_at)) / 1000)}`;
}

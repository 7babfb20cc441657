import { MultiSelect } from "@mantine/core";
import { useCallbackRef } from "@mantine/hooks";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useMemo, useRef } from "react";
import { useSearchParams } from "wouter";
import { useEvents, type EventOut, type StandingJob } from "@/api";
import { formatClock, formatMoment } from "@/lib/format";
import { Loading } from "@/ui/loading";
import { Refused } from "@/ui/refused";
import classes from "./events-tab.module.css";

/** Kinds that come all the time: shown only when they are asked for. */
const QUIET: ReadonlySet<string> = new Set(["progress", "activity"]);

/** What the job's nodes reported, newest first; only the rows in sight are in the page. */
export function EventsTab({ job }: { job: StandingJob }) {
  const [params, setParams] = useSearchParams();
  const events = useEvents(job.id);
  const wanted = params.getAll("kind").join(" ");
  const all = events.data?.items ?? NONE;
  const kinds = useMemo(() => [...new Set(all.map((event) => event.kind))].sort().join(" "), [all]);
  const shown = useMemo(() => shownOf(all, listed(wanted)), [all, wanted]);
  const choose = useCallbackRef((chosen: string[]) =>
    setParams(
      (held) => {
        held.delete("kind");
        for (const kind of chosen) held.append("kind", kind);
        return held;
      },
      { replace: true },
    ),
  );
  return (
    <div>
      <Kinds kinds={kinds} wanted={wanted} onChange={choose} />
      {events.isLoading && <Loading what="the events" />}
      {events.error !== null && <Refused error={events.error} tried="The events were asked for." retry={events.refetch} />}
      {events.isSuccess && shown.length === 0 && <p className="quiet">No event of this kind has been reported yet.</p>}
      <Rows events={shown} />
    </div>
  );
}

const NONE: EventOut[] = [];

function shownOf(all: EventOut[], wanted: string[]): EventOut[] {
  return all.filter(({ kind }) => (wanted.length === 0 ? !QUIET.has(kind) : wanted.includes(kind))).reverse();
}

function listed(words: string): string[] {
  return words === "" ? [] : words.split(" ");
}

interface KindsProps {
  /** Words with spaces between them: the same text is the same choice. */
  kinds: string;
  wanted: string;
  onChange: (chosen: string[]) => void;
}

const Kinds = memo(function Kinds({ kinds, wanted, onChange }: KindsProps) {
  const chosen = listed(wanted);
  return (
    <MultiSelect
      size="xs"
      aria-label="Kinds of events"
      placeholder={wanted === "" ? "all kinds but progress" : ""}
      data={[...new Set([...listed(kinds), ...chosen])]}
      value={chosen}
      onChange={onChange}
    />
  );
});

function Rows({ events }: { events: EventOut[] }) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: events.length,
    getScrollElement: () => box.current,
    estimateSize: () => 28,
    getItemKey: (index) => events[index]?.cursor ?? index,
    overscan: 12,
  });
  return (
    <div ref={box} className={`${classes.box} live`} tabIndex={0} role="region" aria-label="Events, newest first">
      <div role="list" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((row) => {
          const event = events[row.index];
          if (event === undefined) return null;
          return (
            <div
              key={row.key}
              ref={rows.measureElement}
              data-index={row.index}
              role="listitem"
              className={classes.row}
              style={{ transform: `translateY(${row.start}px)` }}
            >
              <time className="mono small" dateTime={event.at} title={formatMoment(event.at)}>
                {formatClock(event.at, true)}
              </time>
              <span className={classes.node}>{event.node}</span>
              <span className={classes.says} title={event.kind}>
                {event.says}
                {event.inferred && <span className="quiet"> (inferred by the node agent)</span>}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

import { MultiSelect } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
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
  const wanted = params.getAll("kind");
  const all = events.data?.items ?? [];
  const kinds = [...new Set(all.map((event) => event.kind))].sort();
  const shown = all.filter((event) => wanted.length === 0 ? !QUIET.has(event.kind) : wanted.includes(event.kind)).reverse();
  const choose = (chosen: string[]) =>
    setParams(
      (held) => {
        held.delete("kind");
        for (const kind of chosen) held.append("kind", kind);
        return held;
      },
      { replace: true },
    );
  return (
    <div>
      <MultiSelect
        size="xs"
        aria-label="Kinds of events"
        placeholder={wanted.length === 0 ? "all kinds but progress" : ""}
        data={[...new Set([...kinds, ...wanted])]}
        value={wanted}
        onChange={choose}
      />
      {events.isLoading && <Loading what="the events" />}
      {events.error !== null && <Refused error={events.error} tried="The events were asked for." retry={events.refetch} />}
      {events.isSuccess && shown.length === 0 && <p className="quiet">No event of this kind has been reported yet.</p>}
      <Rows events={shown} />
    </div>
  );
}

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

import { Button, SegmentedControl, Switch } from "@mantine/core";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { useLiveStatus, type TimelineOut } from "@/api";
import { serverNow } from "@/lib/clock";
import { useKeys } from "@/ui/use-keys";
import { useTick } from "@/ui/use-tick";
import { Legend } from "./legend";
import { RoundCard } from "./round-card";
import { RANGES, type Range } from "./scale";
import { TimelineCanvas } from "./timeline-canvas";
import { TimelineTable } from "./timeline-table";
import classes from "./timeline.module.css";

/** What happened when: a lane for each node, to scale, up to now. Range and selected round stand in the address. */
export function Timeline({ timeline, isOver }: { timeline: TimelineOut; isOver: boolean }) {
  useTick();
  const [params, setParams] = useSearchParams();
  const [frozenAt, setFrozenAt] = useState<number | null>(null);
  const [isTable, setTable] = useState(false);
  const live = useLiveStatus();
  // Of the time since the hub was last heard nothing is known, so nothing is drawn.
  const known = live.kind === "stale" ? live.since : serverNow();
  const now = isOver ? lastMoment(timeline) : known;
  const range = asRange(params.get("range"));
  const { rounds } = timeline;
  const selected = rounds.find(
    (round) => String(round.number) === params.get("round") && String(round.attempt) === (params.get("attempt") ?? "1"),
  );
  const set = (values: Record<string, string | null>) =>
    setParams(
      (held) => {
        for (const [name, value] of Object.entries(values)) {
          if (value === null) held.delete(name);
          else held.set(name, value);
        }
        return held;
      },
      { replace: true },
    );
  const select = (index: number) => {
    const round = rounds[index];
    set({ round: round ? String(round.number) : null, attempt: round ? String(round.attempt) : null });
  };
  useKeys({ f: () => setFrozenAt(null) });
  return (
    <section className="live" aria-label="Timeline">
      <div className={classes.controls}>
        <h2>Timeline</h2>
        <SegmentedControl
          size="xs"
          aria-label="Range"
          value={range}
          onChange={(value) => set({ range: value })}
          data={[
            { value: "10m", label: "10 min" },
            { value: "1h", label: "1 h" },
            { value: "all", label: "all" },
          ]}
        />
        {!isOver && (
          <Switch
            size="xs"
            label="follow"
            checked={frozenAt === null}
            onChange={(event) => setFrozenAt(event.currentTarget.checked ? null : now)}
          />
        )}
        {selected !== undefined && (
          <Button size="compact-xs" variant="default" onClick={() => select(-1)}>
            Round {selected.number} ×
          </Button>
        )}
        <Button size="compact-xs" variant="subtle" ml="auto" onClick={() => setTable(!isTable)}>
          {isTable ? "Show as picture" : "Show as table"}
        </Button>
      </div>
      {isTable ? (
        <TimelineTable timeline={timeline} />
      ) : (
        <>
          <TimelineCanvas
            timeline={timeline}
            range={range}
            end={frozenAt ?? now}
            now={now}
            selected={selected}
            onSelect={(round) => select(round === undefined ? -1 : rounds.indexOf(round))}
          />
          <Legend />
        </>
      )}
      {selected !== undefined && <RoundCard round={selected} />}
    </section>
  );
}

function asRange(text: string | null): Range {
  return text !== null && text in RANGES ? (text as Range) : "10m";
}

/** The end of a job that is over: no later than anything it reported. */
function lastMoment(timeline: TimelineOut): number {
  return Date.parse(timeline.ended_at ?? timeline.now);
}

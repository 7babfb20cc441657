import { useEffect, useMemo, useRef, useState } from "react";
import { useParams } from "wouter";
import { useJob, useRankLanes, useStaleSince, type JobOut, type MemberOut, type RankLaneOut, type TimelineOut } from "@/api";
import { serverNow } from "@/lib/clock";
import { useActs } from "@/ui/acts";
import { Refused } from "@/ui/refused";
import { useKeys } from "@/ui/use-keys";
import { CurveStrip } from "./curve-strip";
import { Legend } from "./legend";
import { silenceOf } from "./lives";
import { pictureOf, type Picture } from "./picture";
import { RoundCard } from "./round-card";
import { Stage } from "./stage";
import { TimelineCanvas } from "./timeline-canvas";
import { TimelineControls } from "./timeline-controls";
import { TimelineTable } from "./timeline-table";
import { usePlace, type Place } from "./use-place";

/** What happened when: a lane for each node, to scale, up to now. What is shown of it stands in the address. */
export function Timeline({ timeline, isOver }: { timeline: TimelineOut; isOver: boolean }) {
  const id = Number(useParams()["id"]);
  const place = usePlace(timeline.rounds);
  const [stage] = useState(() => new Stage());
  const [isTable, setTable] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  // Of the time since the hub was last heard nothing is known, so nothing is drawn.
  const staleSince = useStaleSince();
  const end = isOver ? lastMoment(timeline) : staleSince;
  const nodes = useMemo(() => [...place.open].sort(), [place.open]);
  const asked = useRankLanes(id, nodes, Date.parse(timeline.now));
  const ranks = asked.data?.items;
  const picture = usePicture(id, timeline, ranks, place, isOver);
  const [card, openCard] = useCard(picture, place, stage);
  const selected = place.selected === undefined ? undefined : timeline.rounds[place.selected];
  useKeys({ f: () => place.show({ range: place.range }) });
  useActs(() => [{ id: "timeline:form", says: `Show the timeline as a ${isTable ? "picture" : "table"}`, run: () => setTable(!isTable) }]);
  return (
    <section className="live" aria-label="Timeline">
      <TimelineControls stage={stage} place={place} selected={selected} isOver={isOver} isTable={isTable} onTable={setTable} />
      {isTable ? (
        <TimelineTable picture={picture} open={place.open} onToggle={place.toggle} />
      ) : (
        <>
          <TimelineCanvas stage={stage} picture={picture} place={place} end={end} look={staleSince === null ? "live" : "stale"} boxRef={box} onOpenCard={openCard} />
          {asked.error !== null && (
            <Refused error={asked.error} tried={`The ranks of ${nodes.join(", ")} were asked for.`} retry={asked.refetch} />
          )}
          <CurveStrip stage={stage} id={id} isOver={isOver} />
          <Legend hasRanks={picture.rows.some((row) => row.rank !== null)} />
        </>
      )}
      {place.selected !== undefined && (
        <div ref={card} tabIndex={-1} onKeyDown={(event) => event.key === "Escape" && box.current?.focus()}>
          <RoundCard picture={picture} index={place.selected} />
        </div>
      )}
    </section>
  );
}

function usePicture(id: number, timeline: TimelineOut, ranks: RankLaneOut[] | undefined, place: Place, isOver: boolean): Picture {
  const members = useJob(id, membersOf).data;
  // The members come anew with how long each is silent, so that the moment is fixed when they come.
  const silence = useMemo(() => silenceOf(isOver ? [] : (members ?? []), serverNow()), [members, isOver]);
  return useMemo(
    () => pictureOf({ timeline, ranks: ranks ?? [], open: place.open, silence }),
    [timeline, ranks, place.open, silence],
  );
}

function membersOf(job: JobOut): MemberOut[] {
  return job.members;
}

/** The card of the round takes the focus when it is opened by a key; the newest round in view when none is selected. */
function useCard(picture: Picture, place: Place, stage: Stage) {
  const card = useRef<HTMLDivElement>(null);
  const isAwaited = useRef(false);
  useEffect(() => {
    if (!isAwaited.current || card.current === null) return;
    isAwaited.current = false;
    card.current.focus();
  });
  const open = () => {
    if (picture.rounds.length === 0) return;
    if (place.selected !== undefined) return card.current?.focus();
    isAwaited.current = true;
    place.select(Math.max(0, picture.formed.findLastIndex((at) => at <= stage.view.to)));
  };
  return [card, open] as const;
}

/** The end of a job that is over: no later than anything it reported. */
function lastMoment(timeline: TimelineOut): number {
  return Date.parse(timeline.ended_at ?? timeline.now);
}

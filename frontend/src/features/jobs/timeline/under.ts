/** What lies under a point of the timeline, in words. Pure. */
import type { TimelineOut } from "@/api";
import { formatClock, formatDuration } from "@/lib/format";
import { PHASES } from "@/lib/states";
import { placeOf } from "./draw";
import { MARKS } from "./marks";
import * as scale from "./scale";

const NEAR_PX = 12;

export function wordsAt(timeline: TimelineOut, view: scale.View, end: number, x: number, y: number): string[] {
  const near = timeline.marks.filter((mark) => {
    const place = placeOf(mark, timeline, view);
    return Math.abs(place.x - x) < NEAR_PX && Math.abs(place.y - y) < scale.LANE_PX / 2;
  });
  if (near.length > 0) {
    return near.slice(0, 4).map((mark) => `${formatClock(mark.at, true)} ${mark.says || MARKS[mark.kind].word}`);
  }
  const at = scale.atX(view, x);
  const lane = timeline.lanes[Math.floor((y - scale.laneTop(0)) / scale.LANE_PX)];
  const span = lane?.spans.find((each) => Date.parse(each.began_at) <= at && at <= endOf(each.ended_at, end));
  if (lane !== undefined && span !== undefined) {
    const seconds = (endOf(span.ended_at, end) - Date.parse(span.began_at)) / 1000;
    const round = span.round === null ? "" : `, round ${span.round}`;
    return [`${lane.node}: ${PHASES[span.phase].meaning}${round}`, `from ${formatClock(span.began_at, true)} for ${formatDuration(seconds)}`];
  }
  const round = scale.roundAt(timeline.rounds, at);
  if (y > scale.laneTop(0) || round === undefined) return [];
  return [`Round ${round.number}, world size ${round.world_size}, formed ${formatClock(round.formed_at, true)}`, round.why].filter(Boolean);
}

function endOf(at: string | null, end: number): number {
  return at === null ? end : Date.parse(at);
}

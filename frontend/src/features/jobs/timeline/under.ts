/** What lies under a point of the timeline, in words. Pure. */
import { formatClock, formatDuration } from "@/lib/format";
import { barAt } from "./bars";
import { LOOKS } from "./looks";
import { MARKS } from "./marks";
import { rowsBetween, rowsOfMark, type Picture, type PlacedMark, type Row } from "./picture";
import * as scale from "./scale";

const NEAR_PX = 12;
const MOST_MARKS = 4;

export interface Under {
  picture: Picture;
  view: scale.View;
  now: number;
  /** How far the lanes are scrolled. */
  scrolled: number;
}

export function wordsAt(under: Under, x: number, y: number): string[] {
  if (x < scale.LABELS_PX) return [];
  const { picture, view } = under;
  const row = y < scale.HEAD_PX ? undefined : rowAt(picture, y - scale.HEAD_PX + under.scrolled);
  const near = marksNear(under, x, y, row);
  if (near.length > 0) return markWords(near);
  if (row !== undefined) return barWords(under, row, scale.atX(view, x));
  return y < scale.HEAD_PX ? roundWords(picture, scale.atX(view, x)) : [];
}

function rowAt({ rows }: Picture, y: number): Row | undefined {
  return rows[rowsBetween(rows, y, y)[0]];
}

function marksNear({ picture, view }: Under, x: number, y: number, row: Row | undefined): PlacedMark[] {
  const first = scale.firstAbove(picture.marked, scale.atX(view, x - NEAR_PX));
  const end = scale.firstAbove(picture.marked, scale.atX(view, x + NEAR_PX));
  return picture.marks.slice(first, end).filter(({ mark }) => {
    const rows = rowsOfMark(picture, mark);
    return row === undefined ? rows.length === 0 && y > scale.HEAD_PX - scale.WORLD_PX && y < scale.HEAD_PX : rows.includes(row);
  });
}

function markWords(near: readonly PlacedMark[]): string[] {
  const told = near.slice(0, MOST_MARKS).map(({ mark }) => `${formatClock(mark.at, true)} ${mark.says || MARKS[mark.kind].word}`);
  return near.length > MOST_MARKS ? [...told, `and ${near.length - MOST_MARKS} more here`] : told;
}

function barWords({ now }: Under, row: Row, at: number): string[] {
  const bars = row.bars();
  const index = at > now ? undefined : barAt(bars, at);
  if (index === undefined) return [];
  const [from, to] = [bars.from[index] as number, Math.min(bars.to[index] as number, now)];
  const number = bars.round[index] as number;
  const round = number === 0 ? "" : `, round ${number}`;
  const { word, meaning } = LOOKS[bars.look[index] as number] as (typeof LOOKS)[number];
  const who = row.rank === null ? row.node : `rank ${row.rank} on ${row.node}`;
  return [
    `${who}${round}: ${row.rank === null || word === "not heard" ? meaning : `${word}. ${meaning}`}`,
    `from ${formatClock(from, true)} for ${formatDuration((to - from) / 1000)}`,
  ];
}

function roundWords({ rounds, formed }: Picture, at: number): string[] {
  const round = rounds[roundIndexAt(formed, at)];
  if (round === undefined) return [];
  return [`Round ${round.number}, world size ${round.world_size}, formed ${formatClock(round.formed_at, true)}`, round.why].filter(Boolean);
}

/** The index of the round that was the newest one at that moment; -1: none had been formed. */
export function roundIndexAt(formed: Float64Array, at: number): number {
  return scale.firstAbove(formed, at) - 1;
}

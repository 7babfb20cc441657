/** What one answer of the hub is to the picture: prepared once, so that moving it only reads numbers. Pure. */
import type { MarkOut, RankLaneOut, RoundOut, TimelineOut } from "@/api";
import { barsOf, type Bars } from "./bars";
import { levelsOf, type Level } from "./levels";
import { leftAt, nodeStretches, rankStretches, type Silence } from "./lives";
import { NODE_PX, RANK_PX } from "./scale";

export interface Row {
  key: string;
  node: string;
  /** Null: the lane of the node itself. */
  rank: number | null;
  top: number;
  height: number;
  /** Prepared when it is first looked at: of a thousand lanes few are in view. */
  bars: () => Bars;
}

export interface PlacedMark {
  at: number;
  mark: MarkOut;
}

export interface Picture {
  began: number;
  rounds: readonly RoundOut[];
  /** When each of them was formed. */
  formed: Float64Array;
  levels: readonly Level[];
  most: number;
  marks: readonly PlacedMark[];
  /** When each mark was, in the same order. */
  marked: Float64Array;
  rows: readonly Row[];
  /** Of all rows together. */
  height: number;
  rowOf: ReadonlyMap<string, Row>;
}

interface Told {
  timeline: TimelineOut;
  /** Of the nodes whose lanes are open, as far as they are here. */
  ranks: readonly RankLaneOut[];
  open: ReadonlySet<string>;
  /** Since when nodes are silent that are silent now. */
  silence: Silence;
}

export function pictureOf({ timeline, ranks, open, silence }: Told): Picture {
  const { rounds } = timeline;
  const formed = Float64Array.from(rounds, (round) => Date.parse(round.formed_at));
  const left = leftAt(rounds, formed);
  const nodes = timeline.lanes.map((lane) => nodeRow(lane.node, () => barsOf(nodeStretches(lane, left, silence))));
  const opened = byNode(ranks);
  const rows = stacked(
    nodes.flatMap((row) => {
      const own = open.has(row.node) ? (opened.get(row.node) ?? []) : [];
      return [row, ...own.map((lane) => rankRow(lane, () => barsOf(rankStretches(lane, left, silence))))];
    }),
  );
  const levels = levelsOf(rounds, formed, nodes);
  const marks = timeline.marks.map((mark) => ({ at: Date.parse(mark.at), mark })).sort((a, b) => a.at - b.at);
  return {
    began: Date.parse(timeline.began_at),
    rounds,
    formed,
    levels,
    most: Math.max(1, ...rounds.map((round) => round.world_size)),
    marks,
    marked: Float64Array.from(marks, (each) => each.at),
    rows,
    height: rows.reduce((sum, row) => sum + row.height, 0),
    rowOf: new Map(rows.map((row) => [row.key, row])),
  };
}

export function keyOf(node: string, rank: number | null): string {
  return rank === null ? node : `${node} rank ${rank}`;
}

function nodeRow(node: string, prepare: () => Bars): Row {
  return { key: keyOf(node, null), node, rank: null, top: 0, height: NODE_PX, bars: once(prepare) };
}

function rankRow({ node, rank }: RankLaneOut, prepare: () => Bars): Row {
  return { key: keyOf(node, rank), node, rank, top: 0, height: RANK_PX, bars: once(prepare) };
}

function byNode(ranks: readonly RankLaneOut[]): Map<string, RankLaneOut[]> {
  const found = new Map<string, RankLaneOut[]>();
  for (const lane of ranks) {
    const held = found.get(lane.node);
    if (held === undefined) found.set(lane.node, [lane]);
    else held.push(lane);
  }
  return found;
}

/** One below the other. */
function stacked(rows: readonly Row[]): Row[] {
  let top = 0;
  return rows.map((row) => {
    const placed = { ...row, top };
    top += row.height;
    return placed;
  });
}

function once<T>(prepare: () => T): () => T {
  let held: T | undefined;
  return () => (held ??= prepare());
}

/** The rows between two heights: the index of the first, and of the one after the last. */
export function rowsBetween(rows: readonly Row[], top: number, bottom: number): [number, number] {
  return [firstRow(rows, (row) => row.top + row.height > top), firstRow(rows, (row) => row.top >= bottom)];
}

/** By halving: `holds` is false up to some row, and true from there on. */
function firstRow(rows: readonly Row[], holds: (row: Row) => boolean): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(rows[middle] as Row)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** What ended a rank is told on its own lane too. A checkpoint is told by one rank, but is not a matter of that rank. */
const OF_RANKS: ReadonlySet<MarkOut["kind"]> = new Set(["failure", "kill", "fault"]);

/** Where a mark belongs: its node's lane, and its rank's where that is open. */
export function rowsOfMark({ rowOf }: Picture, { kind, node, rank }: MarkOut): Row[] {
  if (node === null) return [];
  const keys = rank !== null && OF_RANKS.has(kind) ? [node, keyOf(node, rank)] : [node];
  return keys.flatMap((key) => rowOf.get(key) ?? []);
}

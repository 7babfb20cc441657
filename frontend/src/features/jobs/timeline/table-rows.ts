/** The timeline in words, in order of time: all that the picture shows. Pure. */
import type { RoundOut } from "@/api";
import { formatCount, formatDuration, plural } from "@/lib/format";
import { listed } from "@/lib/phrases";
import { LOOKS } from "./looks";
import { MARKS } from "./marks";
import type { Moment } from "../logs/log-address";
import { momentAt, momentOf } from "./moments";
import type { Picture, PlacedMark, Row } from "./picture";
import { CAUSES, consequenceLines } from "./round-words";
import { listedPhases } from "./waterfall-words";

export interface TableRow {
  at: number;
  where: string;
  round: number | null;
  /** A line each. */
  what: string[];
  /** Where its lines are. Undefined: nothing had been written yet. */
  lines?: Moment | undefined;
}

export function tableRowsOf(picture: Picture): TableRow[] {
  const rounds = picture.rounds.map((round, index) => roundRow(round, picture.formed[index] as number));
  const marks = picture.marks.map((placed) => markRow(picture, placed));
  return [...rounds, ...marks, ...picture.rows.flatMap((row) => laneRows(picture, row))].sort((a, b) => a.at - b.at);
}

function markRow(picture: Picture, placed: PlacedMark): TableRow {
  const { at, mark } = placed;
  const what = [mark.says || MARKS[mark.kind].word];
  return { at, where: mark.node ?? "job", round: mark.round, what, lines: momentOf(picture, placed) };
}

function roundRow(round: RoundOut, at: number): TableRow {
  const formed = `Round ${round.number} formed: world size ${formatCount(round.world_size)} on ${plural(round.nodes.length, "node")}.`;
  return { at, where: listed(round.nodes), round: round.number, what: [formed, ...reason(round), ...cost(round)], lines: linesOf(round) };
}

function linesOf({ attempt, number, formed_at }: RoundOut): Moment {
  return { attempt, round: number, at: formed_at };
}

function reason({ cause, consequences, why }: RoundOut): string[] {
  if (cause === null) return why === "" ? [] : [why];
  const source = `Cause: ${CAUSES[cause.kind]}, known from ${cause.source}${cause.planned ? ", asked for by a person" : ""}.`;
  return [cause.sentence || why, source, ...consequenceLines(consequences ?? [])].filter(Boolean);
}

function cost({ phases, steps_redone }: RoundOut): string[] {
  const took = listedPhases(phases);
  const redone = steps_redone === null ? "" : `${plural(steps_redone, "step")} redone.`;
  return [took === "" ? "" : `The way into it: ${took}.`, redone].filter(Boolean);
}

function laneRows(picture: Picture, row: Row): TableRow[] {
  const bars = row.bars();
  return Array.from(bars.from, (at, index) => ({
    at,
    where: row.rank === null ? row.node : `rank ${row.rank} on ${row.node}`,
    round: (bars.round[index] as number) || null,
    what: [`${meaningOf(row, bars.look[index] as number)}${lengthOf(at, bars.to[index] as number)}`],
    lines: momentAt(picture, at, row.rank),
  }));
}

function meaningOf(row: Row, look: number): string {
  const { word, meaning } = LOOKS[look] as (typeof LOOKS)[number];
  return row.rank === null ? meaning : `worker ${word}`;
}

function lengthOf(from: number, to: number): string {
  return to === Infinity ? ", still" : `, for ${formatDuration((to - from) / 1000)}`;
}

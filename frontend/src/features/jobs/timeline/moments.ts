/** Which lines of the logs belong to a place in the timeline, and which marks to a round. Pure. */
import type { MarkOut } from "@/api";
import type { Moment } from "../logs/log-address";
import type { Picture, PlacedMark } from "./picture";
import { firstAbove } from "./scale";

type Rounds = Pick<Picture, "rounds" | "formed">;

/** Undefined: no round had been formed by then, so that no worker had written anything. */
export function momentAt({ rounds, formed }: Rounds, at: number, rank: number | null): Moment | undefined {
  const round = rounds[firstAbove(formed, at) - 1];
  if (round === undefined) return undefined;
  return { attempt: round.attempt, round: round.number, rank, at: new Date(at).toISOString() };
}

/** A mark knows its round itself, whatever the clocks of two nodes say; a checkpoint is a matter of all ranks. */
export function momentOf(rounds: Rounds, { at, mark }: PlacedMark): Moment | undefined {
  const moment = momentAt(rounds, at, OF_ALL.has(mark.kind) ? null : mark.rank);
  return moment && { ...moment, round: mark.round ?? moment.round };
}

const OF_ALL: ReadonlySet<MarkOut["kind"]> = new Set(["checkpoint", "resumed"]);

/** Those between its forming and that of the next one. */
export function marksOfRound({ formed, marks, marked }: Picture, index: number): readonly PlacedMark[] {
  const [from, to] = [formed[index] as number, formed[index + 1] ?? Infinity];
  return marks.filter((_, at) => (marked[at] as number) >= from && (marked[at] as number) < to);
}

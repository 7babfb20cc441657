/** The formed world size over time: what a round had, and nothing from its end until the next is formed. Pure. */
import type { RoundOut } from "@/api";
import type { Bars } from "./bars";
import { numberOf } from "./looks";
import { firstAbove } from "./scale";

export interface Level {
  from: number;
  /** Infinity: it is not over. */
  to: number;
  size: number;
}

interface Lane {
  node: string;
  bars: () => Bars;
}

/** A node in one of these has left the round before. */
const BROKEN: ReadonlySet<number> = new Set((["launching", "idle", "rendezvous", "restarting"] as const).map(numberOf));

const UNHEARD = numberOf("unheard");

/** A round ends when the first of its nodes leaves it, or when all of them have ended. */
export function levelsOf(rounds: readonly RoundOut[], formed: Float64Array, lanes: readonly Lane[]): Level[] {
  const left = new Float64Array(rounds.length).fill(Infinity);
  const over = new Float64Array(rounds.length).fill(-Infinity);
  const members = rounds.map((round) => new Set(round.nodes));
  for (const { node, bars } of lanes) noteEnds(bars(), formed, (round) => members[round]?.has(node) === true, left, over);
  return rounds.map((round, index) => {
    const from = formed[index] as number;
    const next = formed[index + 1] ?? Infinity;
    const ended = over[index] === -Infinity ? Infinity : (over[index] as number);
    return { from, to: Math.max(from, Math.min(next, left[index] as number, ended)), size: round.world_size };
  });
}

/** For each round that holds the node: when it left, and until when it was in it. */
function noteEnds(bars: Bars, formed: Float64Array, holds: (round: number) => boolean, left: Float64Array, over: Float64Array): void {
  for (let index = 0; index < bars.from.length; index += 1) {
    const from = bars.from[index] as number;
    const to = bars.to[index] as number;
    if (BROKEN.has(bars.look[index] as number)) {
      const round = firstAbove(formed, from) - 1;
      if (round >= 0 && holds(round)) left[round] = Math.min(left[round] as number, from);
    } else if (bars.look[index] !== UNHEARD) {
      // The last round that was formed before this stretch ended.
      const round = firstAbove(formed, to - 1) - 1;
      if (round >= 0 && holds(round)) over[round] = Math.max(over[round] as number, to);
    }
  }
}

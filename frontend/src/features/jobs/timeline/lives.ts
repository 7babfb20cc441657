/** What the stretches of a lane are, and from where on they are not known: of nodes that were left out, or are silent. Pure. */
import type { LaneOut, MemberOut, RankLaneOut, RoundOut, SpanOut } from "@/api";
import type { Stretched } from "./bars";
import { numberOf } from "./looks";
import { firstAbove } from "./scale";

/** Since when a node is silent, by its name. */
export type Silence = ReadonlyMap<string, number>;

/** As the members were told at `now`. */
export function silenceOf(members: readonly Pick<MemberOut, "node" | "state" | "silent_s">[], now: number): Silence {
  const silent = members.filter((member) => member.state !== "online" && member.silent_s !== null);
  return new Map(silent.map((member) => [member.node, now - 1000 * (member.silent_s as number)]));
}

/** When the first round after `at` was formed that does not hold the node; Infinity: there is none. */
export type LeftAt = (node: string, at: number) => number;

export function leftAt(rounds: readonly RoundOut[], formed: Float64Array): LeftAt {
  const members = rounds.map((round) => new Set(round.nodes));
  return (node, at) => {
    for (let index = firstAbove(formed, at); index < formed.length; index += 1) {
      if (!members[index]?.has(node)) return formed[index] as number;
    }
    return Infinity;
  };
}

const UNHEARD = numberOf("unheard");

/** While a node waits for a round, others may form one without it: then it was heard all the same. */
const WAITING: ReadonlySet<SpanOut["phase"]> = new Set(["launching", "idle", "rendezvous"]);

export function nodeStretches({ node, spans }: LaneOut, left: LeftAt, silence: Silence): Stretched[] {
  return spans.flatMap((span) => {
    const from = Date.parse(span.began_at);
    const whole = { from, to: endOf(span.ended_at), look: numberOf(span.phase), round: span.round };
    return asFarAsKnown(whole, WAITING.has(span.phase) ? Infinity : left(node, from), silence.get(node));
  });
}

export function rankStretches({ node, spans }: RankLaneOut, left: LeftAt, silence: Silence): Stretched[] {
  return spans.flatMap((span) => {
    const from = Date.parse(span.began_at);
    const whole = { from, to: endOf(span.ended_at), look: numberOf(span.state), round: span.round };
    return asFarAsKnown(whole, left(node, from), silence.get(node));
  });
}

/** What is not over is known only until the others went on without it, or it fell silent. */
function asFarAsKnown(whole: Stretched, left: number, silent = Infinity): Stretched[] {
  const known = Math.max(whole.from, Math.min(left, silent));
  if (whole.to !== Infinity || known === Infinity) return [whole];
  return [
    { ...whole, to: known },
    { ...whole, from: known, look: UNHEARD },
  ];
}

function endOf(at: string | null): number {
  return at === null ? Infinity : Date.parse(at);
}

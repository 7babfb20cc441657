/** One node's or rank's way into a round, in words. Pure. */
import type { ClockOut, PhaseOut, WaterfallRow } from "@/api";
import { listed } from "@/lib/phrases";
import { wayBack, type PhaseName } from "./waterfall-scale";
import { PHASE_WORDS, formatTook } from "./waterfall-words";

/** Nodes by name, then ranks by number. */
export function inOrder(rows: readonly WaterfallRow[]): WaterfallRow[] {
  return [...rows].sort((a, b) => (a.rank ?? -1) - (b.rank ?? -1) || (a.node < b.node ? -1 : 1));
}

export function nameOf({ node, rank }: WaterfallRow): string {
  return rank === null ? node : `rank ${rank} · ${node}`;
}

/** Seconds of all its phases; null when it reported none. */
export function tookOf({ phases }: WaterfallRow): number | null {
  const told = wayBack(phases).flatMap(({ seconds }) => seconds ?? []);
  return told.length === 0 ? null : told.reduce((sum, seconds) => sum + seconds, 0);
}

/** The phases of the round that ended when this one was through. */
export function whichLast({ node, rank }: WaterfallRow, phases: readonly PhaseOut[]): Set<PhaseName> {
  const own = wayBack(phases).filter((phase) => phase.critical_node === node && phase.critical_rank === rank);
  return new Set(own.map(({ name }) => name));
}

export function lastIn(names: ReadonlySet<PhaseName>): string {
  return listed([...names].map((name) => PHASE_WORDS[name].word));
}

/** "node-b's clock is 1.8 ms ahead, ±0.4 ms; its moments are told less this." */
export function clockWords({ node, offset_s, error_s, taken_s }: ClockOut): string {
  if (offset_s === null) return `${node}'s clock was not measured; its moments are told as it wrote them.`;
  const side = offset_s < 0 ? "behind" : "ahead";
  const within = error_s === null ? "" : `, ±${formatOffset(error_s)}`;
  return `${node}'s clock is ${formatOffset(Math.abs(offset_s))} ${side}${within}; ${howTaken(taken_s)}.`;
}

function howTaken(taken_s: number): string {
  if (taken_s === 0) return "that is no more than the error, so its moments are told as it wrote them";
  return `its moments are told ${taken_s < 0 ? "plus" : "less"} this`;
}

function formatOffset(seconds: number): string {
  return seconds < 1 ? `${(1000 * seconds).toFixed(1)} ms` : formatTook(seconds);
}

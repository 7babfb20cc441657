/** What of the timeline stands in the address: the stretch of time, the round, the rank, and the open lanes. */
import { useMemo } from "react";
import { useSearchParams } from "wouter";
import type { RoundOut } from "@/api";
import { readRange, readShown, writtenShown, type Range, type Shown } from "./view";

export interface Place {
  shown: Shown;
  range: Range;
  /** Index of the selected round; undefined: none is. */
  selected: number | undefined;
  rank: number | undefined;
  /** Nodes whose lanes are open to their ranks. */
  open: ReadonlySet<string>;
  show: (shown: Shown) => void;
  select: (index: number | undefined) => void;
  chooseRank: (rank: number) => void;
  toggle: (node: string) => void;
}

export function usePlace(rounds: readonly RoundOut[]): Place {
  const [params, setParams] = useSearchParams();
  const change = (how: (held: URLSearchParams) => void) =>
    setParams(
      (held) => {
        how(held);
        return held;
      },
      { replace: true },
    );
  const set = (values: Record<string, string | null>) =>
    change((held) => {
      for (const [name, value] of Object.entries(values)) {
        if (value === null) held.delete(name);
        else held.set(name, value);
      }
    });
  const lanes = JSON.stringify(params.getAll("lane"));
  const open = useMemo(() => new Set(JSON.parse(lanes) as string[]), [lanes]);
  return {
    shown: readShown(params),
    range: readRange(params),
    selected: selectedOf(params, rounds),
    rank: numberIn(params.get("rank")),
    open,
    show: (shown) => set(writtenShown(shown)),
    select: (index) => {
      const round = index === undefined ? undefined : rounds[index];
      set({ round: round ? String(round.number) : null, attempt: round ? String(round.attempt) : null });
    },
    chooseRank: (rank) => set({ rank: numberIn(params.get("rank")) === rank ? null : String(rank) }),
    toggle: (node) => change((held) => toggleIn(held, "lane", node)),
  };
}

function selectedOf(params: URLSearchParams, rounds: readonly RoundOut[]): number | undefined {
  const [number, attempt] = [params.get("round"), params.get("attempt") ?? "1"];
  const index = rounds.findIndex((round) => String(round.number) === number && String(round.attempt) === attempt);
  return index < 0 ? undefined : index;
}

function numberIn(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

function toggleIn(params: URLSearchParams, name: string, value: string): void {
  const held = params.getAll(name);
  params.delete(name);
  const rest = held.filter((each) => each !== value);
  for (const each of rest.length < held.length ? rest : [...held, value]) params.append(name, each);
}

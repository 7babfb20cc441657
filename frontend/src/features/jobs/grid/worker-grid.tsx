import { useComputedColorScheme } from "@mantine/core";
import { useMemo, useState } from "react";
import { useStaleSince, type WorkerOut } from "@/api";
import { serverNow } from "@/lib/clock";
import { useTicking } from "@/ui/use-tick";
import type { UsageByRank } from "../worker-usage";
import { cellsOf, legendOf, wordsFor, type Cell, type Seen } from "./cells";
import { GridCanvas, type Means } from "./grid-canvas";
import { GridLegend } from "./grid-legend";
import type { Measure } from "./view";
import classes from "./grid.module.css";

interface Props {
  workers: WorkerOut[];
  /** The step of the worker that is furthest. */
  fastest: number;
  usage: UsageByRank;
  by: Measure;
  selected: string | null;
  onSelect: (rank: number) => void;
  picked: ReadonlySet<number>;
  /** Undefined: nobody may do anything to them here. */
  onPick: ((worker: WorkerOut) => void) | undefined;
}

/** A cell for each worker, node by node, and the one that is looked at in words. */
export function WorkerGrid({ workers, fastest, usage, by, selected, onSelect, picked, onPick }: Props) {
  const [at, setAt] = useState<number | null>(null);
  const [spoken, speak] = useState("");
  const look = useLook();
  const now = 1000 * useTicking(() => Math.floor(serverNow() / 1000));
  const seen = { usage, fastest, now };
  const cells = useCells(workers, by, seen);
  const chosen = selected === null ? null : Number(selected);
  const told = byRankIn(cells, at) ?? byRankIn(cells, chosen);
  const move = (cell: Cell | undefined, means: Means) => {
    setAt(cell?.worker.rank ?? null);
    if (cell !== undefined && means === "key") speak(`${wordsFor(cell, seen)}${picked.has(cell.worker.rank) ? ". Picked" : ""}`);
  };
  const select = ({ worker }: Cell) => {
    onSelect(worker.rank);
    speak(`Rank ${worker.rank} is selected; its row is below the grid.`);
  };
  const pick = ({ worker }: Cell) => {
    const isPicked = picked.has(worker.rank);
    if (onPick === undefined) return speak("Picking workers needs the role operator, and a job that runs.");
    if (worker.state !== "running" && !isPicked) return speak(`Rank ${worker.rank} does not run, so it cannot be picked.`);
    onPick(worker);
    speak(`Rank ${worker.rank} is ${isPicked ? "no longer picked" : "picked"}.`);
  };
  return (
    <div className={classes.grid}>
      <GridLegend entries={legendOf(cells, by, usage)} look={look} />
      <p className={`${classes.told} small num`} data-testid="told-worker">
        {told === undefined ? <span className="quiet">{onPick === undefined ? HINT : `${HINT} ${PICKING}`}</span> : wordsFor(told, seen)}
      </p>
      <p className="visually-hidden" role="status">
        {spoken}
      </p>
      <GridCanvas cells={cells} selected={chosen} picked={picked} at={at} look={look} onAt={move} onSelect={select} onPick={pick} />
    </div>
  );
}

const HINT = "What is known of a worker stands here: point at its cell, or go there with the arrow keys. A click or Enter selects it.";
const PICKING = "Space, or a click with Ctrl or ⌘, picks it for a fault.";

function byRankIn(cells: readonly Cell[], rank: number | null): Cell | undefined {
  return rank === null ? undefined : cells.find(({ worker }) => worker.rank === rank);
}

/** Only silence grows by itself: all else changes when something is told. */
function useCells(workers: WorkerOut[], by: Measure, { usage, fastest, now }: Seen): Cell[] {
  const clock = by === "silence" ? now : 0;
  return useMemo(() => cellsOf(workers, by, { usage, fastest, now: clock }), [workers, by, usage, fastest, clock]);
}

/** Another word when the page's colours are others. */
function useLook(): string {
  const scheme = useComputedColorScheme("light");
  return `${scheme} ${useStaleSince() === null ? "live" : "stale"}`;
}

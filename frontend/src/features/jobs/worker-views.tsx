import type { JobOut, WorkerOut } from "@/api";
import { nobody } from "./grid/filter";
import { WorkerGrid } from "./grid/worker-grid";
import type { WorkersView } from "./grid/view";
import { WorkerTable } from "./worker-table";
import type { UsageByRank } from "./worker-usage";

interface Props {
  job: JobOut;
  view: WorkersView;
  /** Those that the search and the filter leave. */
  shown: WorkerOut[];
  isSearched: boolean;
  /** The step of the worker that is furthest. */
  fastest: number;
  usage: UsageByRank;
  selected: string | null;
  onSelect: (rank: number) => void;
  onKill: ((worker: WorkerOut) => void) | undefined;
  picked: ReadonlySet<number>;
  onPick: ((worker: WorkerOut) => void) | undefined;
}

/** The workers as rows; or as a grid, and below it the row of the one that is selected, with all that can be done to it. */
export function WorkerViews({ job, view, shown, isSearched, onKill, ...told }: Props) {
  const isGrid = view.way === "grid";
  const inRows = isGrid ? job.workers.filter(({ rank }) => String(rank) === told.selected) : shown;
  return (
    <>
      {shown.length === 0 && <p className="quiet">{nobody(view.only, isSearched)}</p>}
      {isGrid && shown.length > 0 && <WorkerGrid workers={shown} by={view.by} {...told} />}
      {inRows.length > 0 && <WorkerTable workers={inRows} onKill={onKill} {...told} />}
    </>
  );
}

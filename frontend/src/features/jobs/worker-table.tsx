import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, type KeyboardEvent } from "react";
import type { WorkerOut } from "@/api";
import table from "@/ui/table.module.css";
import { rowAfter } from "./worker-list";
import { WorkerRow } from "./worker-row";
import type { UsageByRank } from "./worker-usage";
import classes from "./workers.module.css";

interface Props {
  workers: WorkerOut[];
  /** The step of the worker that is furthest. */
  fastest: number;
  usage: UsageByRank;
  selected: string | null;
  onSelect: (rank: number) => void;
  /** Undefined: nobody may kill here. */
  onKill: ((worker: WorkerOut) => void) | undefined;
  /** Ranks that are picked for something done to several at once. */
  picked: ReadonlySet<number>;
  onPick: ((worker: WorkerOut) => void) | undefined;
}

const ROW_PX = 33;
const WINDOWED_ABOVE = 100;

/** A row for each worker; of many only those in sight are in the page. */
export function WorkerTable({ workers, fastest, usage, selected, onSelect, onKill, picked, onPick }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: workers.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => workers[index]?.rank ?? index,
    // Few are all in the page, so that the browser's own search finds them.
    overscan: workers.length <= WINDOWED_ABOVE ? WINDOWED_ABOVE : 20,
  });
  const inSight = rows.getVirtualItems();
  const hasGpus = [...usage.values()].some((one) => one.gpu_index !== null);
  const select = useMovingSelection(box, selected, (index) => rows.scrollToIndex(index), onSelect);
  const press = (event: KeyboardEvent) => {
    const at = (event.target as Element).closest("tr")?.dataset["rank"] ?? selected;
    const from = workers.findIndex((worker) => String(worker.rank) === at);
    const index = rowAfter(event.key, from, workers.length);
    const next = index === null ? undefined : workers[index];
    if (index === null || next === undefined) return;
    event.preventDefault();
    select(next.rank, index);
  };
  return (
    <div ref={box} className={`${table.scroll} ${classes.scroll}`}>
      <table className={`${table.table} ${classes.table}`} data-testid="workers" aria-rowcount={workers.length + 1}>
        <Columns hasGpus={hasGpus} />
        <tbody onKeyDown={press}>
          <Space px={inSight[0]?.start ?? 0} />
          {inSight.map(({ index, key }) => {
            const worker = workers[index];
            if (worker === undefined) return null;
            return (
              <WorkerRow
                key={key}
                index={index}
                worker={worker}
                lag={worker.step === null ? null : fastest - worker.step}
                usage={usage.get(worker.rank)}
                hasGpus={hasGpus}
                isSelected={selected === String(worker.rank)}
                onSelect={onSelect}
                onKill={onKill}
                isPicked={picked.has(worker.rank)}
                onPick={onPick}
              />
            );
          })}
          <Space px={rows.getTotalSize() - (inSight.at(-1)?.end ?? 0)} />
        </tbody>
      </table>
    </div>
  );
}

/** Selects a row that may not be in the page yet, and gives it the focus once it is. */
function useMovingSelection(
  box: { current: HTMLElement | null },
  selected: string | null,
  show: (index: number) => void,
  onSelect: (rank: number) => void,
) {
  const awaited = useRef<number | null>(null);
  useEffect(() => {
    if (awaited.current === null || String(awaited.current) !== selected) return;
    const button = box.current?.querySelector<HTMLElement>(`[data-rank="${awaited.current}"] button`);
    if (!button) return;
    awaited.current = null;
    button.focus();
  });
  return (rank: number, index: number) => {
    awaited.current = rank;
    onSelect(rank);
    show(index);
  };
}

/** Stands for the rows above or below those in sight. */
function Space({ px }: { px: number }) {
  if (px <= 0) return null;
  return (
    <tr aria-hidden="true" className={classes.space}>
      <td colSpan={12} style={{ height: px }} />
    </tr>
  );
}

function Columns({ hasGpus }: { hasGpus: boolean }) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th className={`${table.num} ${classes.rankColumn}`}>Rank</th>
        <th className={classes.nodeColumn}>Node</th>
        <th className={`${table.num} ${classes.wide} ${classes.pidColumn}`}>PID</th>
        <th className={`${table.num} ${classes.stepColumn}`}>Step</th>
        <th className={`${table.num} ${classes.wide} ${classes.lagColumn}`} title="Steps behind the fastest worker">
          Lag
        </th>
        <th className={classes.stateColumn}>State</th>
        <th className={`${classes.wide} ${classes.reportedColumn}`}>Reported</th>
        <th className={`${table.num} ${classes.wide} ${classes.cpuColumn}`} title="Of one core, with its children">
          CPU
        </th>
        <th className={`${table.num} ${classes.wide} ${classes.memoryColumn}`} title="In use by it and its children">
          Memory
        </th>
        {hasGpus && <th className={`${table.num} ${classes.wide} ${classes.gpuColumn}`}>GPU</th>}
        {hasGpus && (
          <th className={`${table.num} ${classes.wide} ${classes.gpuUseColumn}`} title="How busy its GPU is, and how much memory is in use on it">
            GPU use
          </th>
        )}
        <th className={classes.act}>
          <span className="visually-hidden">Act</span>
        </th>
      </tr>
    </thead>
  );
}

import { Button } from "@mantine/core";
import type { WorkerOut } from "@/api";
import { formatCount } from "@/lib/format";
import { WORKER_STATES, WORKER_WORDS } from "@/lib/states";
import { Age } from "@/ui/age";
import { StateWord } from "@/ui/state-word";
import table from "@/ui/table.module.css";
import classes from "./workers.module.css";

interface Props {
  /** Its place in the list, from 0. */
  index: number;
  worker: WorkerOut;
  lag: number | null;
  isSelected: boolean;
  onSelect: () => void;
  onKill: (() => void) | undefined;
}

export function WorkerRow({ index, worker, lag, isSelected, onSelect, onKill }: Props) {
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      onClick={onSelect}
      data-rank={worker.rank}
      title={worker.said || undefined}
    >
      <td className={table.num}>
        <button
          type="button"
          className={classes.rank}
          aria-label={`Select rank ${worker.rank}`}
          aria-pressed={isSelected}
          onClick={onSelect}
        >
          {worker.rank}
        </button>
      </td>
      <td className={table.cut}>{worker.node}</td>
      <td className={`${table.num} mono ${classes.wide}`}>{worker.pid}</td>
      <td className={table.num}>{worker.step === null ? "–" : formatCount(worker.step)}</td>
      <td className={`${table.num} ${classes.wide}`}>{lag === null ? "–" : formatCount(lag)}</td>
      <td>
        <StateWord word={WORKER_WORDS[worker.state]} look={WORKER_STATES[worker.state]} />
      </td>
      <td className={classes.wide}>
        {worker.progress_at === null ? <span className="quiet">nothing</span> : <Age at={worker.progress_at} suffix=" ago" />}
      </td>
      <td className={classes.act}>{onKill !== undefined && <KillButton worker={worker} onKill={onKill} />}</td>
    </tr>
  );
}

/** It stays while the worker is gone, so that the focus comes back to it and nothing moves. */
function KillButton({ worker, onKill }: { worker: WorkerOut; onKill: () => void }) {
  const isRunning = worker.state === "running";
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Kill rank ${worker.rank}`}
      aria-disabled={!isRunning}
      data-disabled={!isRunning || undefined}
      onClick={(event) => {
        event.stopPropagation();
        if (isRunning) onKill();
      }}
    >
      {worker.kill === null ? "Kill" : "Kill sent"}
    </Button>
  );
}

import { Button } from "@mantine/core";
import { useCallbackRef } from "@mantine/hooks";
import { memo } from "react";
import type { WorkerOut, WorkerUsageOut } from "@/api";
import { formatCount } from "@/lib/format";
import { Age } from "@/ui/age";
import { StateWord } from "@/ui/state-word";
import table from "@/ui/table.module.css";
import { formatCpu, formatGpu, formatMemory, standingOf, UNKNOWN } from "./worker-usage";
import classes from "./workers.module.css";

interface Props {
  /** Its place in the list, from 0. */
  index: number;
  worker: WorkerOut;
  lag: number | null;
  /** What it uses now; undefined where its node does not say. */
  usage: WorkerUsageOut | undefined;
  hasGpus: boolean;
  isSelected: boolean;
  onSelect: (rank: number) => void;
  onKill: ((worker: WorkerOut) => void) | undefined;
  isPicked: boolean;
  /** Undefined: nobody may do anything to it here. */
  onPick: ((worker: WorkerOut) => void) | undefined;
}

export const WorkerRow = memo(function WorkerRow({ index, worker, lag, usage, hasGpus, isSelected, onSelect, onKill, isPicked, onPick }: Props) {
  const standing = standingOf(worker, usage);
  const kill = useCallbackRef(() => onKill?.(worker));
  const select = () => onSelect(worker.rank);
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      onClick={select}
      data-rank={worker.rank}
      title={worker.said || undefined}
    >
      <td className={`${table.num} ${classes.rankCell}`}>
        {onPick !== undefined && (
          <input
            type="checkbox"
            className={classes.pick}
            aria-label={`Pick rank ${worker.rank}`}
            checked={isPicked}
            disabled={worker.state !== "running" && !isPicked}
            onClick={(event) => event.stopPropagation()}
            onChange={() => onPick(worker)}
          />
        )}
        <button
          type="button"
          className={classes.rank}
          aria-label={`Select rank ${worker.rank}`}
          aria-pressed={isSelected}
          onClick={select}
        >
          {worker.rank}
        </button>
      </td>
      <td className={table.cut} title={worker.node}>{worker.node}</td>
      <td className={`${table.num} mono ${classes.wide}`}>{worker.pid}</td>
      <td className={table.num}>{worker.step === null ? "–" : formatCount(worker.step)}</td>
      <td className={`${table.num} ${classes.wide}`}>{lag === null ? "–" : formatCount(lag)}</td>
      <td>
        <StateWord word={standing.word} look={standing.look} />
      </td>
      <td className={classes.wide}>
        {worker.progress_at === null ? <span className="quiet">nothing</span> : <Age at={worker.progress_at} suffix=" ago" />}
      </td>
      <td className={`${table.num} ${classes.wide}`}>{formatCpu(usage?.cpu)}</td>
      <td className={`${table.num} ${classes.wide}`}>{formatMemory(usage?.memory_bytes)}</td>
      {hasGpus && <td className={`${table.num} ${classes.wide}`}>{usage?.gpu_index ?? UNKNOWN}</td>}
      {hasGpus && <td className={`${table.num} ${classes.wide}`}>{formatGpu(usage)}</td>}
      <td className={classes.act}>{onKill !== undefined && <KillButton rank={worker.rank} isRunning={worker.state === "running"} isSent={worker.kill !== null} onKill={kill} />}</td>
    </tr>
  );
});

interface KillProps {
  rank: number;
  isRunning: boolean;
  isSent: boolean;
  onKill: () => void;
}

/** It stays while the worker is gone, so that the focus comes back to it and nothing moves. */
const KillButton = memo(function KillButton({ rank, isRunning, isSent, onKill }: KillProps) {
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Kill rank ${rank}`}
      aria-disabled={!isRunning}
      data-disabled={!isRunning || undefined}
      onClick={(event) => {
        event.stopPropagation();
        if (isRunning) onKill();
      }}
    >
      {isSent ? "Kill sent" : "Kill"}
    </Button>
  );
});

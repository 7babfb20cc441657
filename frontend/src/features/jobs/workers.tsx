import { Button } from "@mantine/core";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { useMayOperate, type JobOut, type RoundOut, type WorkerOut } from "@/api";
import { formatCount } from "@/lib/format";
import { ENDED, WORKER_STATES, WORKER_WORDS } from "@/lib/states";
import { Age } from "@/ui/age";
import { StateWord } from "@/ui/state-word";
import table from "@/ui/table.module.css";
import { useKeys } from "@/ui/use-keys";
import { KillDialog } from "./kill-dialog";
import classes from "./workers.module.css";

/** The workers of the newest round. The selected rank stands in the address. */
export function Workers({ job, rounds }: { job: JobOut; rounds: RoundOut[] }) {
  const [params, setParams] = useSearchParams();
  const [aimed, setAimed] = useState<WorkerOut | null>(null);
  const mayKill = useMayOperate() && !ENDED.has(job.state);
  const selected = params.get("rank");
  const fastest = Math.max(...job.workers.map((worker) => worker.step ?? 0));
  const select = (rank: number) =>
    setParams(
      (held) => {
        held.set("rank", String(rank));
        return held;
      },
      { replace: true },
    );
  useKeys({
    k: () => {
      const found = job.workers.find((worker) => String(worker.rank) === selected && worker.state === "running");
      if (mayKill && found) setAimed(found);
    },
  });
  return (
    <section className="live" aria-label="Workers">
      <h2 className={classes.title}>Workers</h2>
      {job.workers.length === 0 && <p className="quiet">{noWorkers(job)}</p>}
      {job.workers.length > 0 && (
        <div className={`${table.scroll} ${classes.scroll}`}>
          <table className={table.table} data-testid="workers">
            <thead>
              <tr>
                <th className={table.num}>Rank</th>
                <th>Node</th>
                <th className={`${table.num} ${classes.wide}`}>PID</th>
                <th className={table.num}>Step</th>
                <th className={`${table.num} ${classes.wide}`} title="Steps behind the fastest worker">
                  Lag
                </th>
                <th>State</th>
                <th className={classes.wide}>Reported</th>
                <th>
                  <span className="visually-hidden">Act</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {job.workers.map((worker) => (
                <WorkerRow
                  key={worker.rank}
                  worker={worker}
                  lag={worker.step === null ? null : fastest - worker.step}
                  isSelected={selected === String(worker.rank)}
                  onSelect={() => select(worker.rank)}
                  onKill={mayKill ? () => setAimed(worker) : undefined}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {aimed !== null && <KillDialog job={job} worker={aimed} rounds={rounds} onClose={() => setAimed(null)} />}
    </section>
  );
}

interface RowProps {
  worker: WorkerOut;
  lag: number | null;
  isSelected: boolean;
  onSelect: () => void;
  onKill: (() => void) | undefined;
}

function WorkerRow({ worker, lag, isSelected, onSelect, onKill }: RowProps) {
  return (
    <tr aria-selected={isSelected} onClick={onSelect} data-rank={worker.rank} title={worker.said || undefined}>
      <td className={table.num}>
        <button type="button" className={classes.rank} aria-label={`Select rank ${worker.rank}`} onClick={onSelect}>
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
      <td className={classes.act}>
        {onKill !== undefined && worker.state === "running" && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Kill rank ${worker.rank}`}
            onClick={(event) => {
              event.stopPropagation();
              onKill();
            }}
          >
            {worker.kill === null ? "Kill" : "Kill sent"}
          </Button>
        )}
      </td>
    </tr>
  );
}

function noWorkers(job: JobOut): string {
  if (ENDED.has(job.state)) return "No worker process was ever reported for this job.";
  return "No worker runs yet. They are listed here with rank, node, pid and step once the round is formed.";
}

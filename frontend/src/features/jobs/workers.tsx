import { useState } from "react";
import { useSearchParams } from "wouter";
import { useMayOperate, type JobOut, type RoundOut, type WorkerOut } from "@/api";
import { plural } from "@/lib/format";
import { ENDED, WORKER_WORDS } from "@/lib/states";
import { useActs, type Act } from "@/ui/acts";
import { SearchField } from "@/ui/search-field";
import { useKeys } from "@/ui/use-keys";
import { KillDialog } from "./kill-dialog";
import { MANY, matching } from "./worker-list";
import { WorkerTable } from "./worker-table";
import classes from "./workers.module.css";

/** The workers of the newest round. The selected rank, and what is searched for, stand in the address. */
export function Workers({ job, rounds }: { job: JobOut; rounds: RoundOut[] }) {
  const [params, setParams] = useSearchParams();
  const [aimed, setAimed] = useState<WorkerOut | null>(null);
  const mayKill = useMayOperate() && !ENDED.has(job.state);
  const selected = params.get("rank");
  const wanted = params.get("q") ?? "";
  const shown = matching(job.workers, wanted);
  const set = (name: string, value: string) =>
    setParams(
      (held) => {
        if (value === "") held.delete(name);
        else held.set(name, value);
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
  useActs(() => (mayKill ? job.workers.filter(isRunning).map((worker) => killAct(worker, setAimed)) : []));
  return (
    <section className="live" aria-label="Workers">
      <div className={classes.title}>
        <h2>Workers</h2>
        {(job.workers.length > MANY || wanted !== "") && (
          <SearchField label="Search workers" placeholder="Rank, node, pid" value={wanted} onChange={(text) => set("q", text)} />
        )}
        {wanted !== "" && (
          <span className="quiet small" role="status">
            {shown.length} of {plural(job.workers.length, "worker")}
          </span>
        )}
      </div>
      {job.workers.length === 0 && <p className="quiet">{noWorkers(job)}</p>}
      {job.workers.length > 0 && shown.length === 0 && <p className="quiet">No worker has this rank, pid, node or state.</p>}
      {shown.length > 0 && (
        <WorkerTable
          workers={shown}
          fastest={Math.max(...job.workers.map((worker) => worker.step ?? 0))}
          selected={selected}
          onSelect={(rank) => set("rank", String(rank))}
          onKill={mayKill ? setAimed : undefined}
        />
      )}
      {aimed !== null && <KillDialog job={job} worker={aimed} rounds={rounds} onClose={() => setAimed(null)} />}
    </section>
  );
}

function isRunning(worker: WorkerOut): boolean {
  return worker.state === "running";
}

function killAct(worker: WorkerOut, aim: (worker: WorkerOut) => void): Act {
  const { rank, node, state } = worker;
  return { id: `kill:${rank}`, says: `Kill rank ${rank}`, note: `${node}, ${WORKER_WORDS[state]}`, isDanger: true, run: () => aim(worker) };
}

function noWorkers(job: JobOut): string {
  if (ENDED.has(job.state)) return "No worker process was ever reported for this job.";
  return "No worker runs yet. They are listed here with rank, node, pid and step once the round is formed.";
}

import { Button } from "@mantine/core";
import { useCallbackRef } from "@mantine/hooks";
import { memo, useState } from "react";
import { useSearchParams } from "wouter";
import { useJob, useMayOperate, useWorkerUsage, type JobOut, type RoundOut, type WorkerOut } from "@/api";
import { plural } from "@/lib/format";
import { ENDED, WORKER_WORDS } from "@/lib/states";
import { useActs, type Act } from "@/ui/acts";
import { SearchField } from "@/ui/search-field";
import { useKeys } from "@/ui/use-keys";
import { FaultDialog } from "./fault-dialog";
import type { FaultKind } from "./fault-words";
import { onlyThose } from "./grid/filter";
import { useView, type ViewChoice } from "./grid/use-view";
import { ViewControls } from "./grid/view-controls";
import { usePicked } from "./use-picked";
import { MANY, matching } from "./worker-list";
import { byRank } from "./worker-usage";
import { UsageNotes } from "./usage-notes";
import { WorkerViews } from "./worker-views";
import classes from "./workers.module.css";

/** The workers of the newest round. The selected rank, what is searched for, and how they are shown stand in the address. */
export const Workers = memo(function Workers({ id, rounds }: { id: number; rounds: RoundOut[] }) {
  const job = useJob(id).data;
  return job === undefined ? null : <Told job={job} rounds={rounds} />;
});

function Told({ job, rounds }: { job: JobOut; rounds: RoundOut[] }) {
  const [params, setParams] = useSearchParams();
  const [aimed, setAimed] = useState<Aimed | null>(null);
  const mayKill = useMayOperate() && !ENDED.has(job.state);
  const selected = params.get("rank");
  const wanted = params.get("q") ?? "";
  const picked = usePicked(job.workers);
  const told = useWorkerUsage(job.id, job.workers.length > 0 && !ENDED.has(job.state));
  const usage = byRank(job.workers, told.isError ? [] : (told.data?.workers ?? []));
  const fastest = Math.max(...job.workers.map((worker) => worker.step ?? 0));
  const view = useView(job.workers.length);
  const shown = onlyThose(matching(job.workers, wanted), view.only, { fastest, usage, stall: job.stall });
  const isGrid = view.way === "grid";
  const isNarrowed = wanted !== "" || view.only !== "all";
  const set = (name: string, value: string) =>
    setParams(
      (held) => {
        if (value === "") held.delete(name);
        else held.set(name, value);
        return held;
      },
      { replace: true },
    );
  // These stay the same ones, so that a row is rendered only when its worker has something new to say.
  const search = useCallbackRef((text: string) => set("q", text));
  const select = useCallbackRef((rank: number) => set("rank", String(rank)));
  const kill = useCallbackRef((worker: WorkerOut) => setAimed({ workers: [worker], kind: "kill_worker" }));
  const pick = useCallbackRef(picked.toggle);
  useKeys({
    k: () => {
      const found = job.workers.find((worker) => String(worker.rank) === selected && worker.state === "running");
      if (mayKill && picked.workers.length > 0) setAimed({ workers: picked.workers, kind: "kill_worker" });
      else if (mayKill && found) setAimed({ workers: [found], kind: "kill_worker" });
    },
  });
  useActs(() => (mayKill ? job.workers.filter(isRunning).flatMap((worker) => faultActs(worker, setAimed)) : []));
  useActs(() => (job.workers.length > 1 ? [wayAct(view)] : []));
  return (
    <section className="live" aria-label="Workers">
      <div className={classes.title}>
        <h2>Workers</h2>
        {(job.workers.length > 1 || isGrid) && <ViewControls view={view} hasFilter={isGrid || job.workers.length > MANY || view.only !== "all"} />}
        {(job.workers.length > MANY || wanted !== "") && (
          <SearchField label="Search workers" placeholder="Rank, node, pid" value={wanted} onChange={search} />
        )}
        {isNarrowed && (
          <span className="quiet small" role="status">
            {shown.length} of {plural(job.workers.length, "worker")}
          </span>
        )}
        {mayKill && picked.workers.length > 0 && (
          <PickedActs
            count={picked.workers.length}
            onFault={() => setAimed({ workers: picked.workers, kind: "kill_worker" })}
            onClear={picked.clear}
          />
        )}
      </div>
      {job.workers.length === 0 && <p className="quiet">{noWorkers(job)}</p>}
      {job.workers.length > 0 && (
        <WorkerViews
          job={job}
          view={view}
          shown={shown}
          isSearched={wanted !== ""}
          usage={usage}
          fastest={fastest}
          selected={selected}
          onSelect={select}
          onKill={mayKill ? kill : undefined}
          picked={picked.ranks}
          onPick={mayKill ? pick : undefined}
        />
      )}
      {told.data !== undefined && <UsageNotes usage={told.data} />}
      {aimed !== null && (
        <FaultDialog
          job={job}
          target={{ workers: aimed.workers }}
          kind={aimed.kind}
          rounds={rounds}
          onClose={() => setAimed(null)}
        />
      )}
    </section>
  );
}

function isRunning(worker: WorkerOut): boolean {
  return worker.state === "running";
}

function wayAct({ way, chooseWay }: ViewChoice): Act {
  const next = way === "grid" ? "rows" : "grid";
  return { id: "workers:form", says: `Show the workers as ${next === "grid" ? "a grid" : "rows"}`, run: () => chooseWay(next) };
}

interface Aimed {
  workers: WorkerOut[];
  kind: FaultKind;
}

const OFFERED: [FaultKind, string][] = [
  ["kill_worker", "Kill"],
  ["freeze_worker", "Freeze"],
  ["slow_worker", "Slow"],
];

function faultActs(worker: WorkerOut, aim: (aimed: Aimed) => void): Act[] {
  const { rank, node, state } = worker;
  const note = `${node}, ${WORKER_WORDS[state]}`;
  return OFFERED.map(([kind, word]) => ({
    id: `${kind}:${rank}`,
    says: `${word} rank ${rank}`,
    note,
    isDanger: true,
    run: () => aim({ workers: [worker], kind }),
  }));
}

/** What can be done with the workers that are picked. */
function PickedActs({ count, onFault, onClear }: { count: number; onFault: () => void; onClear: () => void }) {
  return (
    <>
      <Button size="compact-xs" color="red.9" onClick={onFault}>
        Fault on {plural(count, "worker")} …
      </Button>
      <Button size="compact-xs" variant="default" onClick={onClear}>
        Pick none
      </Button>
    </>
  );
}

function noWorkers(job: JobOut): string {
  if (ENDED.has(job.state)) return "No worker process was ever reported for this job.";
  return "No worker runs yet. They are listed here with rank, node, pid and step once the round is formed.";
}

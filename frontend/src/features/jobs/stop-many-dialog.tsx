import { useStopMany, type JobSummary, type StopManyOut } from "@/api";
import { plural } from "@/lib/format";
import { JOB_STATES } from "@/lib/states";
import { ActDialog } from "@/ui/act-dialog";
import { StateWord } from "@/ui/state-word";

interface Props {
  /** As they are now, so that their states move while the dialog is open. */
  jobs: JobSummary[];
  onClose: () => void;
}

/** Asks once before several jobs are stopped, names them all, and follows each. */
export function StopManyDialog({ jobs, onClose }: Props) {
  const stop = useStopMany();
  return (
    <ActDialog
      act={`Stop ${plural(jobs.length, "job")}`}
      isDanger
      forecast={<Forecast jobs={jobs} />}
      asked={stop}
      onAct={(reason) => stop.mutate({ ids: jobs.map(({ id }) => id), reason })}
      tried={`${plural(jobs.length, "job")} were to be stopped.`}
      onClose={onClose}
    >
      {stop.data !== undefined && <Results answer={stop.data} jobs={jobs} />}
    </ActDialog>
  );
}

function Forecast({ jobs }: { jobs: JobSummary[] }) {
  const workers = jobs.reduce((sum, job) => sum + job.workers_alive, 0);
  return (
    <div>
      <p>
        Ends {plural(workers, "worker")}: SIGTERM first, SIGKILL after each job&apos;s own time to what still runs. Steps since
        the last checkpoints are lost. Stopped jobs do not start again.
      </p>
      <ul>
        {jobs.map(({ id, name }) => (
          <li key={id}>
            {name} <span className="quiet">{id}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Asked is not stopped: the state of each is what its nodes have shown. */
function Results({ answer, jobs }: { answer: StopManyOut; jobs: JobSummary[] }) {
  const now = new Map(jobs.map((job) => [job.id, job]));
  return (
    <ul aria-label="What became of each" data-testid="stop-results">
      {answer.items.map(({ id, name, problem }) => {
        const state = now.get(id)?.state;
        return (
          <li key={id}>
            {name} <span className="quiet">{id}</span> {problem !== "" && problem}
            {problem === "" && state !== undefined && <StateWord word={state} look={JOB_STATES[state]} />}
          </li>
        );
      })}
    </ul>
  );
}

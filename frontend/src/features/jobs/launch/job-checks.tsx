import { Button } from "@mantine/core";
import { useState } from "react";
import { useCheckAgain, useChecks, useJobChecks, useMayOperate, type StandingJob } from "@/api";
import { Age } from "@/ui/age";
import { Refused } from "@/ui/refused";
import classes from "./before-launch.module.css";
import { ChecksFound } from "./checks-found";

/** What the checks of the launch found, and once more for the nodes that the job has now. */
export function JobChecks({ job }: { job: StandingJob }) {
  const kept = useJobChecks(job.id);
  const mayOperate = useMayOperate();
  const told = kept.data?.told ?? null;
  return (
    <details className={classes["ofJob"]} data-testid="job-checks">
      <summary>Checks of its nodes</summary>
      {kept.error !== null && <Refused error={kept.error} tried="The checks were to be shown." retry={kept.refetch} />}
      {kept.data !== undefined && (
        <section className={classes["checks"]} aria-label="Checks before the launch">
          <p>
            <strong>Before the launch</strong>
            {told !== null && (
              <>
                , <Age at={told.began_at} suffix=" ago" />
              </>
            )}
            : {kept.data.says}
          </p>
          {told !== null && <ChecksFound told={told} />}
        </section>
      )}
      {mayOperate && <CheckAgain job={job} />}
    </details>
  );
}

function CheckAgain({ job }: { job: StandingJob }) {
  const [id, setId] = useState<string | null>(null);
  const again = useCheckAgain(job.id);
  const checks = useChecks(id);
  const run = () => again.mutate(undefined, { onSuccess: (begun) => setId(begun.id) });
  const goesOn = again.isPending || (id !== null && checks.data?.is_over !== true && checks.error === null);
  return (
    <section className={classes["checks"]} aria-label="Checks now">
      <Button size="compact-sm" variant="default" onClick={run} loading={goesOn}>
        Check its nodes now
      </Button>
      {again.error !== null && <Refused error={again.error} tried="The nodes were not checked." />}
      {checks.error !== null && <Refused error={checks.error} tried="The checks cannot be followed." retry={run} />}
      {checks.data !== undefined && <ChecksFound told={checks.data} />}
    </section>
  );
}

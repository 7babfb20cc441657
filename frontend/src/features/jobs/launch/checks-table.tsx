import { Button } from "@mantine/core";
import { useState } from "react";
import { useBeginChecks, useChecks, type ChecksIn } from "@/api";
import { Refused } from "@/ui/refused";
import classes from "./before-launch.module.css";
import { ChecksFound } from "./checks-found";

/** Has the nodes looked at on demand: a row for each, a cell for each check, and below what is not as it should be. */
export function ChecksTable({ asked }: { asked: () => ChecksIn | null }) {
  const [id, setId] = useState<string | null>(null);
  const begin = useBeginChecks();
  const checks = useChecks(id);
  const run = () => {
    const job = asked();
    if (job !== null) begin.mutate(job, { onSuccess: (begun) => setId(begun.id) });
  };
  const goesOn = begin.isPending || (id !== null && checks.data?.is_over !== true && checks.error === null);
  return (
    <section className={classes["checks"]} aria-label="Checks">
      <Button variant="default" onClick={run} loading={goesOn}>
        Check nodes
      </Button>
      {begin.error !== null && <Refused error={begin.error} tried="The nodes were not checked." />}
      {checks.error !== null && <Refused error={checks.error} tried="The checks cannot be followed." retry={run} />}
      {checks.data !== undefined && <ChecksFound told={checks.data} />}
    </section>
  );
}

import { Button } from "@mantine/core";
import { Link } from "wouter";
import { useMayOperate, useRunningFaults, useStopFaults, type FaultOut } from "@/api";
import { formatClock, plural } from "@/lib/format";
import { Refused } from "@/ui/refused";
import classes from "./running-faults.module.css";

const SHOWN = 3;

/** On every page, as long as a fault runs that somebody has asked for: what it is, and one button that ends them all. */
export function RunningFaults() {
  const faults = useRunningFaults().data?.items ?? [];
  const stop = useStopFaults();
  const mayOperate = useMayOperate();
  if (faults.length === 0) return null;
  return (
    <section className={`${classes.strip} live`} aria-label="Running faults" data-testid="running-faults">
      <div>
        <strong role="status">{plural(faults.length, "fault")} by hand</strong>
        <ul className={classes.list}>
          {faults.slice(0, SHOWN).map((fault) => (
            <li key={fault.id}>
              <Link href={`/jobs/${fault.job}`}>job {fault.job}</Link>: {fault.says}
              {until(fault)}
            </li>
          ))}
          {faults.length > SHOWN && <li>and {faults.length - SHOWN} more</li>}
        </ul>
        {stop.data !== undefined && <p className={classes.said}>{stop.data.says}</p>}
        {stop.error !== null && <Refused error={stop.error} tried="The faults were to be stopped." />}
      </div>
      {mayOperate && (
        <Button color="red.9" loading={stop.isPending} onClick={() => stop.mutate()}>
          Stop all faults
        </Button>
      )}
    </section>
  );
}

function until({ ends_by: endsBy }: FaultOut): string {
  return endsBy === null ? "" : ` Until ${formatClock(endsBy)}.`;
}

import { Button } from "@mantine/core";
import { Link, useLocation } from "wouter";
import { useExample, useLaunch, useMayOperate } from "@/api";
import { Empty } from "@/ui/empty";
import { Refused } from "@/ui/refused";

/** The first look at a fresh hub: what jobs will look like here, and the one button that makes one. */
export function NoJobsYet() {
  const mayOperate = useMayOperate();
  const example = useExample(mayOperate);
  const launch = useLaunch();
  const [, go] = useLocation();
  // The new job ends this empty look before the answer is here, so that nothing may hang on it still being shown.
  const launchExample = () => {
    if (example.data) launch.mutateAsync(example.data).then((job) => go(`/jobs/${job.id}`), saidBelow);
  };
  return (
    <Empty title="No job has been launched yet.">
      <p>
        Each job will be a row here: its state, world size, restarts and step, live. A job is what torchrun would
        start, on the nodes that have free worker slots.
      </p>
      {!mayOperate && <p>Launching needs the role operator; this account is a viewer.</p>}
      {launch.error !== null && <Refused error={launch.error} tried="The example was to be launched." />}
      {mayOperate && example.data != null && (
        <>
          <Button loading={launch.isPending} onClick={launchExample}>
            Launch the example
          </Button>
          <p>
            It trains a small character model on the nodes that are here. Or{" "}
            <Link href="/jobs/new">launch a job of your own</Link>.
          </p>
        </>
      )}
      {mayOperate && example.data == null && !example.isPending && (
        <Button component={Link} href="/jobs/new">
          Launch a job
        </Button>
      )}
    </Empty>
  );
}

function saidBelow() {}

import { Button } from "@mantine/core";
import { Link, useLocation } from "wouter";
import { useArchive, type StandingJob } from "@/api";
import { ENDED } from "@/lib/states";
import { useActs } from "@/ui/acts";
import { Refused } from "@/ui/refused";

/** What can be done with a job besides stopping it: launch it once more, and put it out of sight once it has ended. */
export function AgainActs({ job }: { job: StandingJob }) {
  const archive = useArchive(job.id);
  const [, go] = useLocation();
  const isAway = job.archived_at !== null;
  useActs(() => [{ id: "again", says: `Launch ${job.name} again`, run: () => go(`/jobs/new?from=${job.id}`) }]);
  return (
    <>
      <Button component={Link} href={`/jobs/new?from=${job.id}`} size="xs" variant="default">
        Launch again …
      </Button>
      {ENDED.has(job.state) && (
        <Button size="xs" variant="default" loading={archive.isPending} onClick={() => archive.mutate(!isAway)}>
          {isAway ? "Put back" : "Archive"}
        </Button>
      )}
      {archive.error !== null && <Refused error={archive.error} tried={`${job.name} was to be ${isAway ? "put back" : "archived"}.`} />}
    </>
  );
}

import { Button, Checkbox, NativeSelect } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { Link, useSearchParams } from "wouter";
import { useJobList, useMayOperate, useTopic } from "@/api";
import { JOB_STATES } from "@/lib/states";
import { Empty } from "@/ui/empty";
import { Loading } from "@/ui/loading";
import { Refused } from "@/ui/refused";
import { SearchField } from "@/ui/search-field";
import { JobsTable } from "./jobs-table";
import { NoJobsYet } from "./no-jobs-yet";
import { PickedJobs, usePicking } from "./picked-jobs";
import classes from "./jobs-page.module.css";

/** All jobs, newest first, live. What is filtered for stands in the address. */
export function JobsPage() {
  useDocumentTitle("Jobs · Regroup");
  useTopic("jobs");
  const [params] = useSearchParams();
  const mayOperate = useMayOperate();
  const picking = usePicking();
  const filters = {
    state: params.get("state") ?? "",
    q: params.get("q") ?? "",
    label: params.get("label") ?? "",
    archived: params.get("archived") === "true",
  };
  const list = useJobList(filters);
  const jobs = list.data?.pages.flatMap((page) => page.items) ?? [];
  const isFiltered = filters.state !== "" || filters.q !== "" || filters.label !== "" || filters.archived;
  return (
    <>
      <Filters />
      {list.isLoading && <Loading what="the jobs" />}
      {list.error !== null && <Refused error={list.error} tried="The list of jobs was asked for." retry={list.refetch} />}
      {list.isSuccess && jobs.length === 0 && (isFiltered ? <NothingFound /> : <NoJobsYet />)}
      {jobs.length > 0 && mayOperate && <PickedJobs jobs={jobs} picking={picking} />}
      {jobs.length > 0 && <JobsTable jobs={jobs} picking={mayOperate ? picking : null} />}
      {list.hasNextPage && (
        <Button variant="default" mt={16} loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Load more
        </Button>
      )}
    </>
  );
}

function Filters() {
  const [params, setParams] = useSearchParams();
  const mayOperate = useMayOperate();
  const set = (name: string, value: string) =>
    setParams(
      (held) => {
        if (value === "") held.delete(name);
        else held.set(name, value);
        return held;
      },
      { replace: true },
    );
  return (
    <div className={classes.filters}>
      <h1>Jobs</h1>
      <SearchField
        label="Search jobs"
        placeholder="Search by name"
        value={params.get("q") ?? ""}
        onChange={(text) => set("q", text)}
      />
      <NativeSelect
        size="xs"
        aria-label="State"
        value={params.get("state") ?? ""}
        onChange={(event) => set("state", event.currentTarget.value)}
        data={[{ value: "", label: "all states" }, ...Object.keys(JOB_STATES)]}
      />
      {params.get("label") !== null && (
        <Button size="xs" variant="default" onClick={() => set("label", "")} aria-label={`Show jobs without the label ${params.get("label")} too`}>
          {params.get("label")} ×
        </Button>
      )}
      <Checkbox
        size="xs"
        label="archived"
        checked={params.get("archived") === "true"}
        onChange={(event) => set("archived", event.currentTarget.checked ? "true" : "")}
      />
      {mayOperate ? (
        <Button component={Link} href="/jobs/new" size="xs" ml="auto">
          Launch a job
        </Button>
      ) : (
        <span className={classes.viewer}>Viewers may look; launching needs the role operator.</span>
      )}
    </div>
  );
}

function NothingFound() {
  return (
    <Empty title="No job matches.">
      <p>
        Nothing is as the filters above say. <Link href="/jobs">Show all jobs</Link>
      </p>
    </Empty>
  );
}

import { lazy, Suspense, type ReactNode } from "react";
import { Redirect, Route, Switch } from "wouter";
import { NodesPage } from "@/features/fleet/nodes-page";
import { JobPage } from "@/features/jobs/job-page";
import { JobsPage } from "@/features/jobs/jobs-page";
import { NotFound } from "@/shell/not-found";
import { Boundary } from "@/ui/boundary";
import { Loading } from "@/ui/loading";

/** Loaded when somebody launches: its form is a good part of the page, and most visits only look. */
const LaunchPage = lazy(() => import("@/features/jobs/launch-page").then((part) => ({ default: part.LaunchPage })));

export function Routes() {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/jobs" replace />
      </Route>
      <Route path="/login">
        <Redirect to="/jobs" replace />
      </Route>
      <Route path="/jobs">{part(<JobsPage />, "jobs")}</Route>
      <Route path="/jobs/new">{part(<LaunchPage />, "launch")}</Route>
      <Route path="/jobs/:id">
        {({ id }) => (/^\d+$/.test(id) ? part(<JobPage id={Number(id)} />, `job ${id}`) : <NotFound />)}
      </Route>
      <Route path="/nodes">{part(<NodesPage />, "nodes")}</Route>
      <Route component={NotFound} />
    </Switch>
  );
}

/** A page on its own: a fault in it leaves the others and the bar as they are. */
function part(page: ReactNode, key: string) {
  return (
    <Boundary key={key}>
      <Suspense fallback={<Loading what="this page" />}>{page}</Suspense>
    </Boundary>
  );
}

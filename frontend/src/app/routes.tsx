import { Redirect, Route, Switch } from "wouter";
import { NodesPage } from "@/features/fleet/nodes-page";
import { JobPage } from "@/features/jobs/job-page";
import { JobsPage } from "@/features/jobs/jobs-page";
import { LaunchPage } from "@/features/jobs/launch-page";
import { NotFound } from "@/shell/not-found";

export function Routes() {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/jobs" replace />
      </Route>
      <Route path="/login">
        <Redirect to="/jobs" replace />
      </Route>
      <Route path="/jobs" component={JobsPage} />
      <Route path="/jobs/new" component={LaunchPage} />
      <Route path="/jobs/:id">
        {({ id }) => (/^\d+$/.test(id) ? <JobPage key={id} id={Number(id)} /> : <NotFound />)}
      </Route>
      <Route path="/nodes" component={NodesPage} />
      <Route component={NotFound} />
    </Switch>
  );
}

import { lazy, Suspense, type ReactNode } from "react";
import { Tabs } from "@mantine/core";
import { useSearchParams } from "wouter";
import type { StandingJob, RoundOut } from "@/api";
import { Loading } from "@/ui/loading";
import { EventsTab } from "./events-tab";
import { GoodputTab } from "./goodput-tab";
import { LogTab } from "./logs/log-tab";
import { MembersTab } from "./members-tab";
import { MetricsTab } from "./metrics/metrics-tab";
import { SpecTab } from "./spec-tab";
import { TABS, useTabActs } from "./tab-acts";
import classes from "./job-tabs.module.css";

/** Loaded when somebody looks: it is of use to those whose round has failed. */
const EvidenceTab = lazy(() => import("./evidence-tab").then((part) => ({ default: part.EvidenceTab })));
const StacksTab = lazy(() => import("./stacks-tab").then((part) => ({ default: part.StacksTab })));

interface Props {
  job: StandingJob;
  rounds: RoundOut[];
  /** On narrow screens the timeline is one of the tabs. */
  timeline: ReactNode | undefined;
}

/** What lies behind the job: its output, its events, its nodes, its time and its spec. The tab stands in the address. */
export function JobTabs({ job, rounds, timeline }: Props) {
  const [params, setParams] = useSearchParams();
  const tab = params.get("tab") ?? "logs";
  const choose = (value: string | null) =>
    setParams(
      (held) => {
        held.set("tab", value ?? "logs");
        return held;
      },
      { replace: true },
    );
  useTabActs(job, choose);
  return (
    <Tabs className={classes.tabs} value={tab} onChange={choose} keepMounted={false}>
      <Tabs.List mb={8}>
        {TABS.map(({ value, word }) => (
          <Tabs.Tab key={value} value={value}>
            {word}
          </Tabs.Tab>
        ))}
        {timeline !== undefined && <Tabs.Tab value="timeline">Timeline</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="logs">
        <LogTab job={job} rounds={rounds} />
      </Tabs.Panel>
      <Tabs.Panel value="metrics">
        <MetricsTab job={job} />
      </Tabs.Panel>
      <Tabs.Panel value="events">
        <EventsTab job={job} />
      </Tabs.Panel>
      <Tabs.Panel value="nodes">
        <MembersTab job={job} rounds={rounds} />
      </Tabs.Panel>
      <Tabs.Panel value="stacks">
        <Suspense fallback={<Loading what="the stacks" />}>
          <StacksTab job={job} />
        </Suspense>
      </Tabs.Panel>
      <Tabs.Panel value="evidence">
        <Suspense fallback={<Loading what="the evidence" />}>
          <EvidenceTab job={job} />
        </Suspense>
      </Tabs.Panel>
      <Tabs.Panel value="goodput">
        <GoodputTab id={job.id} />
      </Tabs.Panel>
      <Tabs.Panel value="spec">
        <SpecTab job={job} />
      </Tabs.Panel>
      {timeline !== undefined && <Tabs.Panel value="timeline">{timeline}</Tabs.Panel>}
    </Tabs>
  );
}

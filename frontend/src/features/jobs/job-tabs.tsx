import type { ReactNode } from "react";
import { Tabs } from "@mantine/core";
import { useSearchParams } from "wouter";
import type { JobOut, RoundOut } from "@/api";
import { EventsTab } from "./events-tab";
import { GoodputTab } from "./goodput-tab";
import { LogTab } from "./log-tab";
import { MembersTab } from "./members-tab";
import { SpecTab } from "./spec-tab";
import { TABS, useTabActs } from "./tab-acts";
import classes from "./job-tabs.module.css";

interface Props {
  job: JobOut;
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
      <Tabs.Panel value="events">
        <EventsTab job={job} />
      </Tabs.Panel>
      <Tabs.Panel value="nodes">
        <MembersTab job={job} />
      </Tabs.Panel>
      <Tabs.Panel value="goodput">
        <GoodputTab goodput={job.goodput} />
      </Tabs.Panel>
      <Tabs.Panel value="spec">
        <SpecTab job={job} />
      </Tabs.Panel>
      {timeline !== undefined && <Tabs.Panel value="timeline">{timeline}</Tabs.Panel>}
    </Tabs>
  );
}

import { useMantineColorScheme, type MantineColorScheme } from "@mantine/core";
import { useLocation } from "wouter";
import { useMayOperate, useNodes, type JobSummary, type NodeOut } from "@/api";
import { useOffered, type Act } from "@/ui/acts";
import type { Section } from "./palette-sections";

/** All that the palette may list: what the page offers, and what is to be had from anywhere. */
export function useSections(jobs: JobSummary[], everywhere: Section[]): Section[] {
  const [, go] = useLocation();
  const here = useOffered();
  const nodes = useNodes().data?.items ?? [];
  return [
    { title: "On this page", acts: [...here] },
    { title: "Jobs", acts: jobs.map((job) => toJob(job, go)) },
    { title: "Nodes", acts: nodes.map((node) => toNode(node, go)) },
    ...everywhere,
  ];
}

function toJob({ id, name, state }: JobSummary, go: (path: string) => void): Act {
  return { id: `job:${id}`, says: name, note: `job ${id}, ${state}`, run: () => go(`/jobs/${id}`) };
}

function toNode({ name, state }: NodeOut, go: (path: string) => void): Act {
  return { id: `node:${name}`, says: name, note: `node, ${state}`, run: () => go(`/nodes?node=${encodeURIComponent(name)}`) };
}

const SCHEMES: Record<MantineColorScheme, string> = {
  light: "Light theme",
  dark: "Dark theme",
  auto: "Theme as the system has it",
};

/** Pages, theme and help. What the person may not do is not among them. */
export function useEverywhere(showKeys: () => void): Section[] {
  const [, go] = useLocation();
  const mayOperate = useMayOperate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const launch: Act = { id: "go:launch", says: "Launch a job", run: () => go("/jobs/new") };
  const schemes = (Object.keys(SCHEMES) as MantineColorScheme[]).map((scheme): Act => {
    const note = scheme === colorScheme ? { note: "chosen" } : {};
    return { id: `theme:${scheme}`, says: SCHEMES[scheme], ...note, run: () => setColorScheme(scheme) };
  });
  return [
    {
      title: "Go to",
      acts: [
        { id: "go:jobs", says: "All jobs", keyName: "g j", run: () => go("/jobs") },
        { id: "go:nodes", says: "All nodes", keyName: "g n", run: () => go("/nodes") },
        ...(mayOperate ? [launch] : []),
      ],
    },
    { title: "Page", acts: [...schemes, { id: "keys", says: "Keys: what each key does", keyName: "?", run: showKeys }] },
  ];
}

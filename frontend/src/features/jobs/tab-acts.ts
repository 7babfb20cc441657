/** The tabs of a job's page, and what the command palette says of them. */
import type { JobOut } from "@/api";
import { ENDED } from "@/lib/states";
import { useActs, type Act } from "@/ui/acts";
import { pressKey } from "@/ui/use-keys";

export const TABS = [
  { value: "logs", word: "Logs" },
  { value: "metrics", word: "Metrics" },
  { value: "events", word: "Events" },
  { value: "nodes", word: "Nodes" },
  { value: "stacks", word: "Stacks" },
  { value: "evidence", word: "Evidence" },
  { value: "goodput", word: "Goodput" },
  { value: "spec", word: "Spec" },
];

export function useTabActs({ state }: Pick<JobOut, "state">, choose: (tab: string) => void): void {
  useActs(() => [...TABS.map(({ value, word }) => showTab(value, word, choose)), ...(ENDED.has(state) ? [] : [FOLLOW])]);
}

function showTab(value: string, word: string, choose: (tab: string) => void): Act {
  return { id: `tab:${value}`, says: `Show ${word.toLowerCase()}`, note: "tab of this job", run: () => choose(value) };
}

const FOLLOW: Act = {
  id: "follow",
  says: "Follow the newest part of timeline and log",
  keyName: "f",
  run: () => pressKey("f"),
};

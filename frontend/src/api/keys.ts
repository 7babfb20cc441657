/** Names of what the query cache holds. */
export const keys = {
  session: ["session"] as const,
  example: ["example"] as const,
  jobLists: ["jobs", "list"] as const,
  jobList: (filters: { state: string; q: string }) => ["jobs", "list", filters] as const,
  foundJobs: (text: string) => ["jobs", "found", text] as const,
  job: (id: number) => ["jobs", "one", id] as const,
  timeline: (id: number) => ["jobs", "timeline", id] as const,
  rankLanes: (id: number, nodes: readonly string[]) => ["jobs", "rank lanes", id, nodes] as const,
  curve: (id: number) => ["jobs", "curve", id] as const,
  waterfall: (id: number, attempt: number, round: number) => ["jobs", "waterfall", id, attempt, round] as const,
  events: (id: number) => ["jobs", "events", id] as const,
  log: (of: LogAddress) => ["jobs", "log", of] as const,
  command: (id: string) => ["commands", id] as const,
  nodes: ["nodes"] as const,
  drain: (node: string) => ["drain", node] as const,
};

/** Which worker's output: everything that names one file. */
export interface LogAddress {
  job: number;
  attempt: number;
  round: number;
  rank: number;
  stream: "stdout" | "stderr";
}

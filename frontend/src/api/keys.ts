/** Names of what the query cache holds. */
export const keys = {
  session: ["session"] as const,
  example: ["example"] as const,
  jobLists: ["jobs", "list"] as const,
  jobList: (filters: JobFilters) => ["jobs", "list", filters] as const,
  parsed: (command: string) => ["torchrun", "parsed", command] as const,
  torchrun: (id: number) => ["torchrun", "of", id] as const,
  check: (body: object | null) => ["check", "form", body] as const,
  jobCheck: (id: number) => ["check", "of", id] as const,
  foundJobs: (text: string) => ["jobs", "found", text] as const,
  job: (id: number) => ["jobs", "one", id] as const,
  timeline: (id: number) => ["jobs", "timeline", id] as const,
  rankLanes: (id: number, nodes: readonly string[]) => ["jobs", "rank lanes", id, nodes] as const,
  metrics: (id: number, question: object) => ["jobs", "metrics", id, question] as const,
  curve: (id: number) => ["jobs", "curve", id] as const,
  waterfall: (id: number, attempt: number, round: number) => ["jobs", "waterfall", id, attempt, round] as const,
  workerUsage: (id: number) => ["jobs", "worker usage", id] as const,
  stacks: (id: number) => ["jobs", "stacks", id] as const,
  stalls: (id: number, newest: string) => ["jobs", "stalls", id, newest] as const,
  evidence: (id: number) => ["jobs", "evidence", id] as const,
  events: (id: number) => ["jobs", "events", id] as const,
  log: (of: LogAddress, place: LogPlace) => ["jobs", "log", of, place] as const,
  logSearch: (of: LogAddress, pattern: string, isCaseSensitive: boolean) => ["jobs", "log search", of, pattern, isCaseSensitive] as const,
  runningFaults: ["faults", "running"] as const,
  faults: (id: number) => ["faults", "of", id] as const,
  faultPreview: (id: number, body: object) => ["faults", "preview", id, body] as const,
  command: (id: string) => ["commands", id] as const,
  nodes: ["nodes"] as const,
  uploads: ["uploads", "mine"] as const,
  upload: (digest: string) => ["uploads", digest] as const,
  drain: (node: string) => ["drain", node] as const,
};

/** Whose output: one file, or those of all ranks or both streams merged by time. */
export interface LogAddress {
  job: number;
  attempt: number;
  round: number;
  rank: number | "all";
  stream: "stdout" | "stderr" | "both";
}

/** Where a log is opened: at a line, by its key; at a time; null: at its end. */
export type LogPlace = { line: string } | { at: string } | null;

/** What a list of jobs is narrowed by. */
export interface JobFilters {
  state: string;
  q: string;
  /** `NAME:VALUE`, or `NAME` alone. */
  label: string;
  archived: boolean;
}

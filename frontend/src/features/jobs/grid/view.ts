/** How the workers are shown, as the page's address holds it. Pure. */

export const MEASURES = ["state", "lag", "silence", "cpu", "memory", "gpu"] as const;
export type Measure = (typeof MEASURES)[number];

export const FILTERS = ["all", "behind", "stalled", "failed"] as const;
export type Filter = (typeof FILTERS)[number];

export const MEASURE_WORDS: Record<Measure, string> = {
  state: "state",
  lag: "steps behind the fastest",
  silence: "time since the last progress",
  cpu: "CPU",
  memory: "memory",
  gpu: "GPU use",
};

export const FILTER_WORDS: Record<Filter, string> = {
  all: "all workers",
  behind: "only those behind",
  stalled: "only stalled ones",
  failed: "only failed ones",
};

const WAYS = ["rows", "grid"] as const;
export type Way = (typeof WAYS)[number];

/** From so many workers on rows are too many to see them all at once. */
export const GRID_FROM = 48;

export interface WorkersView {
  way: Way;
  by: Measure;
  only: Filter;
}

export function readView(params: URLSearchParams, workers: number): WorkersView {
  return {
    way: among(WAYS, params.get("workers")) ?? (workers >= GRID_FROM ? "grid" : "rows"),
    by: among(MEASURES, params.get("by")) ?? "state",
    only: among(FILTERS, params.get("only")) ?? "all",
  };
}

function among<Word extends string>(words: readonly Word[], text: string | null): Word | undefined {
  return words.find((word) => word === text);
}

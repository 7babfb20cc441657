/** How the workers are shown, as the page's address holds it. Pure. */

export const MEASURES = ["state", "lag", "silence", "cpu", "memory", "gpu"] as const;
export type Measure = (typeof MEASURES)[number];

export const FILTERS = ["all", "behind", "stalled", "failed"] as const;
export type Filter = (typeof FILTERS)[number];

export type Way = "rows" | "grid";

/** From so many workers on rows are too many to see them all at once. */
export const GRID_FROM = 48;

export interface WorkersView {
  way: Way;
  by: Measure;
  only: Filter;
}

export function readView(params: URLSearchParams, workers: number): WorkersView {
  return {
    way: among(["rows", "grid"], params.get("workers")) ?? (workers >= GRID_FROM ? "grid" : "rows"),
    by: among(MEASURES, params.get("by")) ?? "state",
    only: among(FILTERS, params.get("only")) ?? "all",
  };
}

function among<Word extends string>(words: readonly Word[], text: string | null): Word | undefined {
  return words.find((word) => word === text);
}

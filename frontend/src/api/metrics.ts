/** What a job's ranks reported over time. */
import { useQuery } from "@tanstack/react-query";
import { client, must } from "./client";
import { keys } from "./keys";
import type { MetricsOut } from "./types";

/** Which metrics, and of which time; null: all there is. */
export interface MetricsQuestion {
  names: readonly string[];
  from: string | null;
  to: string | null;
  points?: number;
}

const METRICS_MS = 2000;
/** Names seldom become more. */
const NAMES_MS = 10_000;

/** No metric has that name: who asks for it is told of none. */
const NONE = "-";

/** Asked for again every two seconds while the job goes on. What is held stays until the next answer is here. */
export function useMetrics(
  id: number,
  question: MetricsQuestion,
  { isOver, isWanted = true }: { isOver: boolean; isWanted?: boolean },
) {
  return useQuery({
    // Once more when it is over: the last reports came with the end.
    queryKey: keys.metrics(id, { ...question, isOver }),
    queryFn: ({ signal }) => {
      const { names, from, to, points } = question;
      const range = { ...(from !== null && { from }), ...(to !== null && { to }), ...(points && { points }) };
      const query = { names: names.length > 0 ? [...names] : [NONE], ...range };
      return must(client.GET("/api/jobs/{id}/metrics", { params: { path: { id }, query }, signal }));
    },
    enabled: isWanted,
    refetchInterval: ({ state }) => (isOver ? false : isOfNames(question, state.data) ? NAMES_MS : METRICS_MS),
    placeholderData: (previous) => previous,
  });
}

/** What is asked for the names alone, and has got some. */
function isOfNames({ names }: MetricsQuestion, got: MetricsOut | undefined): boolean {
  return names.length === 0 && (got?.names.length ?? 0) > 0;
}

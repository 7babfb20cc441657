/** What the command palette asks of the hub: jobs by a part of their name, or by their number. */
import { useQuery } from "@tanstack/react-query";
import { client, must, Refusal } from "./client";
import { keys } from "./keys";
import type { JobSummary } from "./types";

const AT_ONCE = 8;

/** The newest jobs that have `text` in their name, and the job with that number, if it is one. */
export function useFoundJobs(text: string) {
  return useQuery({
    queryKey: keys.foundJobs(text),
    queryFn: async ({ signal }): Promise<JobSummary[]> => {
      const [named, numbered] = await Promise.all([byName(text, signal), byNumber(text, signal)]);
      return [...numbered, ...named.filter((job) => job.id !== numbered[0]?.id)];
    },
    placeholderData: (previous) => previous,
    retry: false,
    // Each time the palette opens, the hub is asked anew.
    gcTime: 0,
  });
}

async function byName(text: string, signal: AbortSignal): Promise<JobSummary[]> {
  const query = { q: text || undefined, limit: AT_ONCE };
  return (await must(client.GET("/api/jobs", { params: { query }, signal }))).items;
}

async function byNumber(text: string, signal: AbortSignal): Promise<JobSummary[]> {
  if (!/^\d{1,9}$/.test(text)) return [];
  try {
    return [await must(client.GET("/api/jobs/{id}", { params: { path: { id: Number(text) } }, signal }))];
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return [];
    throw error;
  }
}

/** What is asked about a job that is not launched yet: where it would run, and what its nodes say of it. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { client, must } from "./client";
import type { ChecksIn, JobIn } from "./types";

const AGAIN_MS = 5000;
const CHECKING_MS = 400;

/** Null: there is nothing to ask about yet. Asked again while it is shown, as jobs come and go. */
export function usePreview(job: JobIn | null) {
  // What is in the environment has no part in it, and secrets belong into no cache.
  const body = job && { ...job, env: {} };
  return useQuery({
    queryKey: ["jobs", "preview", body],
    queryFn: ({ signal }) => must(client.POST("/api/jobs/preview", { body: body as JobIn, signal })),
    enabled: body !== null,
    placeholderData: (previous) => previous,
    refetchInterval: AGAIN_MS,
    retry: false,
    gcTime: 0,
  });
}

export function useBeginChecks() {
  return useMutation({ mutationFn: (body: ChecksIn) => must(client.POST("/api/jobs/checks", { body })) });
}

/** What was found before a job that has been launched; it does not change any more. */
export function useJobChecks(id: number) {
  return useQuery({
    queryKey: ["checks", "of", id],
    queryFn: ({ signal }) => must(client.GET("/api/jobs/{id}/checks", { params: { path: { id } }, signal })),
    staleTime: Infinity,
  });
}

export function useCheckAgain(id: number) {
  return useMutation({ mutationFn: () => must(client.POST("/api/jobs/{id}/checks", { params: { path: { id } } })) });
}

/** Each question carries the checks on, until all answers are in. */
export function useChecks(id: string | null) {
  return useQuery({
    queryKey: ["checks", id],
    queryFn: ({ signal }) => must(client.GET("/api/checks/{id}", { params: { path: { id: id ?? "" } }, signal })),
    enabled: id !== null,
    refetchInterval: (query) => (query.state.data?.is_over ? false : CHECKING_MS),
    retry: 1,
    staleTime: Infinity,
  });
}

/** torchrun's command line, both ways, and what a launch means before it is one. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { client, must } from "./client";
import { keys } from "./keys";
import type { JobIn } from "./types";

/** What a pasted line would be as a job. It is asked anew only when the text differs. */
export function useParsed(command: string) {
  return useQuery({
    queryKey: keys.parsed(command),
    queryFn: ({ signal }) => must(client.POST("/api/torchrun/parse", { body: { command }, signal })),
    enabled: command.trim() !== "",
    staleTime: Infinity,
    retry: false,
  });
}

/** The line that a job in the form would be. */
export function useWriteTorchrun() {
  return useMutation({ mutationFn: (body: JobIn) => must(client.POST("/api/torchrun/write", { body })) });
}

/** The line that a job is. */
export function useTorchrun(id: number) {
  return useQuery({
    queryKey: keys.torchrun(id),
    queryFn: ({ signal }) => must(client.GET("/api/jobs/{id}/torchrun", { params: { path: { id } }, signal })),
    staleTime: Infinity,
  });
}

/** Sentence, faults, warnings and settings of a job in the form; the last answer stays until the next is there. */
export function useCheck(body: JobIn | null) {
  return useQuery({
    queryKey: keys.check(body),
    queryFn: ({ signal }) => must(client.POST("/api/jobs/check", { body: body as JobIn, signal })),
    enabled: body !== null,
    placeholderData: (previous) => previous,
    staleTime: 10_000,
    retry: false,
  });
}

/** The same of a job that was launched. */
export function useJobCheck(id: number) {
  return useQuery({
    queryKey: keys.jobCheck(id),
    queryFn: ({ signal }) => must(client.GET("/api/jobs/{id}/check", { params: { path: { id } }, signal })),
    staleTime: Infinity,
  });
}

/** How workers stand and what they use now, and when they stood still. */
import { useQuery } from "@tanstack/react-query";
import { client, must } from "./client";
import { keys } from "./keys";

const USAGE_MS = 2000;

/** Nodes sample their workers every two seconds. A page that nobody sees does not ask. */
export function useWorkerUsage(id: number, isWanted: boolean) {
  return useQuery({
    queryKey: keys.workerUsage(id),
    queryFn: ({ signal }) => must(client.GET("/api/jobs/{id}/workers/usage", { params: { path: { id } }, signal })),
    enabled: isWanted,
    refetchInterval: USAGE_MS,
    retry: false,
  });
}

/** Where all ranks stand in their code. Asked for by hand alone, with `refetch`: each time the nodes look anew. */
export function useStacks(id: number) {
  return useQuery({
    queryKey: keys.stacks(id),
    queryFn: ({ signal }) => must(client.GET("/api/jobs/{id}/stacks", { params: { path: { id } }, signal })),
    enabled: false,
    retry: false,
    staleTime: Infinity,
    gcTime: Infinity,
  });
}

/** Stalls that were, and the stacks that were taken when the newest was noticed; while it lasts they may still come. */
export function useStalls(id: number, newest: string, isOpen: boolean) {
  return useQuery({
    queryKey: keys.stalls(id, newest),
    queryFn: ({ signal }) => must(client.GET("/api/jobs/{id}/stalls", { params: { path: { id } }, signal })),
    placeholderData: (previous) => previous,
    refetchInterval: isOpen ? USAGE_MS : false,
    retry: false,
  });
}

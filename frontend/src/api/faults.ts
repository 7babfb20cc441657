/** Faults by hand: what one would do, doing it, what runs and what came of it. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { client, must } from "./client";
import { keys } from "./keys";
import type { CommandOut, FaultIn, FaultOut, FaultPreview } from "./types";

/** What the fault would do now, asked for again while it is wanted: the job goes on meanwhile. */
export function useFaultPreview(id: number, body: FaultIn, isWanted: boolean) {
  const asked = { ...body, reason: "", dry_run: true };
  return useQuery({
    queryKey: keys.faultPreview(id, asked),
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      return (await must(client.POST("/api/jobs/{id}/faults", { params, body: asked, signal }))) as FaultPreview;
    },
    enabled: isWanted,
    refetchInterval: isWanted ? 2000 : false,
    retry: false,
  });
}

/** Gives the commands to follow: one for each worker, or one for the node. */
export function useFault(id: number) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (body: FaultIn): Promise<CommandOut[]> => {
      const answer = await must(client.POST("/api/jobs/{id}/faults", { params: { path: { id } }, body }));
      if ("commands" in answer) return answer.commands;
      return "forecast" in answer ? [] : [answer];
    },
    onSettled: () => void cache.invalidateQueries({ queryKey: keys.runningFaults }),
  });
}

const FOLLOW_MS = 300;

/** The faults of those commands, asked for until all is known of them. */
export function useFaultsOf(id: number, commands: readonly string[]) {
  return useQuery({
    queryKey: keys.faults(id),
    queryFn: ({ signal }) => must(client.GET("/api/jobs/{id}/faults", { params: { path: { id } }, signal })),
    select: (page) => page.items.filter((fault) => commands.includes(fault.id)),
    refetchInterval: (query) => {
      const items = query.state.data?.items.filter((fault) => commands.includes(fault.id));
      return items !== undefined && items.length > 0 && items.every(isSettled) ? false : FOLLOW_MS;
    },
    retry: true,
    retryDelay: 500,
  });
}

/** Whether nothing more will be told of it. A round that follows a kill is told of a little later. */
function isSettled({ is_final: isFinal, state, outcome }: FaultOut): boolean {
  return isFinal && (state !== "done" || (outcome !== null && (outcome.seconds !== null || outcome.round === null)));
}

const IDLE_MS = 5000;
const BUSY_MS = 1000;

/** All that runs now, of any job. */
export function useRunningFaults() {
  return useQuery({
    queryKey: keys.runningFaults,
    queryFn: ({ signal }) => must(client.GET("/api/faults", { signal })),
    refetchInterval: (query) => (query.state.data?.items.length ? BUSY_MS : IDLE_MS),
  });
}

export function useStopFaults() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () => must(client.POST("/api/faults/stop-all")),
    onSettled: () => void cache.invalidateQueries({ queryKey: keys.runningFaults }),
  });
}

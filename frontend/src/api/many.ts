/** Several jobs at once, and jobs out of sight. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client, must } from "./client";
import { keys } from "./keys";
import type { JobOut } from "./types";

/** Each job has a result of its own; when it has stopped is told by its state. */
export function useStopMany() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (body: { ids: number[]; reason: string }) => must(client.POST("/api/jobs/stop", { body })),
    onSuccess: () => void cache.invalidateQueries({ queryKey: keys.jobLists }),
  });
}

/** `away` false puts it back. */
export function useArchive(id: number) {
  const cache = useQueryClient();
  const params = { path: { id } };
  return useMutation({
    mutationFn: (away: boolean) =>
      must(away ? client.POST("/api/jobs/{id}/archive", { params }) : client.POST("/api/jobs/{id}/unarchive", { params })),
    onSuccess: (job) => {
      cache.setQueryData<JobOut>(keys.job(id), job);
      void cache.invalidateQueries({ queryKey: keys.jobLists });
    },
  });
}

/** What a person can change at the hub. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client, must } from "./client";
import { keys } from "./keys";
import type { JobIn } from "./types";

export function useLogIn() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (body: { username: string; password: string }) => must(client.POST("/api/session", { body })),
    onSuccess: (me) => {
      // In a tab whose session ended elsewhere, what the last person was shown is still held.
      cache.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] });
      cache.setQueryData(keys.session, me);
    },
  });
}

export function useLogOut() {
  return useMutation({
    mutationFn: () => must(client.DELETE("/api/session")),
    // Nothing that was shown to one person may be left for the next one.
    onSuccess: () => window.location.assign("/login"),
  });
}

export function useChangePassword() {
  return useMutation({
    mutationFn: (body: { current: string; new: string }) => must(client.POST("/api/session/password", { body })),
  });
}

export function useLaunch() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (body: JobIn) => must(client.POST("/api/jobs", { body })),
    onSuccess: (job) => {
      cache.setQueryData(keys.job(job.id), job);
      void cache.invalidateQueries({ queryKey: keys.jobLists });
    },
  });
}

export function useStop(id: number) {
  return useMutation({
    mutationFn: (body: { reason: string; force: boolean }) =>
      must(client.POST("/api/jobs/{id}/stop", { params: { path: { id } }, body })),
  });
}

export function useScale(id: number) {
  return useMutation({
    mutationFn: (body: { nodes: number; reason: string }) =>
      must(client.POST("/api/jobs/{id}/scale", { params: { path: { id } }, body })),
  });
}

export function useDrain(name: string) {
  return useMutation({
    mutationFn: (reason: string) =>
      must(client.POST("/api/nodes/{name}/drain", { params: { path: { name } }, body: { reason } })),
  });
}

export function useUndrain(name: string) {
  return useMutation({
    mutationFn: () => must(client.POST("/api/nodes/{name}/undrain", { params: { path: { name } } })),
  });
}

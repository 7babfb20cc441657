/** What is kept of a job's rounds that failed, and all of one round as a file. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { client, must } from "./client";
import { keys } from "./keys";

/** Nothing live tells of it, and nodes put it together after the failure. */
const LOOK_MS = 4000;

export function useEvidence(id: number) {
  return useQuery({
    queryKey: keys.evidence(id),
    queryFn: ({ signal }) => must(client.GET("/api/jobs/{id}/evidence", { params: { path: { id } }, signal })),
    refetchInterval: LOOK_MS,
    retry: false,
  });
}

export interface RoundAddress {
  job: number;
  attempt: number;
  round: number;
}

/** Has the hub fetch it from the nodes, which takes as long as it takes, and hands it to the browser to keep. */
export function useDownloadEvidence() {
  return useMutation({
    mutationFn: async ({ job: id, attempt, round }: RoundAddress) => {
      const params = { path: { id, round }, query: { attempt } };
      const call = client.GET("/api/jobs/{id}/evidence/{round}", { params, parseAs: "blob", fetch: (asked) => fetch(asked) });
      keep((await must(call)) as Blob, `job-${id}-attempt-${attempt}-round-${round}.zip`);
    },
  });
}

function keep(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

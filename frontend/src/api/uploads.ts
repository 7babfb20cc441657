/** Uploaded code: sent with its progress, and looked at. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { client, csrfToken, must, Refusal, unreachable } from "./client";
import { keys } from "./keys";
import type { UploadOut } from "./types";

/** What is sent: one script or zip, or the files of a folder with their paths in it. */
export interface CodeToSend {
  name: string;
  files: { path: string; file: File }[];
}

export interface Sending {
  code: CodeToSend;
  /** From 0 to 1: how much of it has gone out. */
  onProgress: (part: number) => void;
  signal: AbortSignal;
}

export function useUpload() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: () => cache.invalidateQueries({ queryKey: keys.uploads }),
  });
}

/** Those of the person who asks, the newest first. */
export function useUploads() {
  return useQuery({
    queryKey: keys.uploads,
    queryFn: ({ signal }) => must(client.GET("/api/uploads", { params: { query: { mine: true } }, signal })),
  });
}

export function useRemoveCode() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (digest: string) => must(client.DELETE("/api/uploads/{digest}", { params: { path: { digest } } })),
    onSuccess: (_, digest) => {
      void cache.invalidateQueries({ queryKey: keys.uploads });
      cache.removeQueries({ queryKey: keys.upload(digest) });
    },
  });
}

export function useUploadedCode(digest: string) {
  return useQuery({
    queryKey: keys.upload(digest),
    queryFn: ({ signal }) => must(client.GET("/api/uploads/{digest}", { params: { path: { digest } }, signal })),
    enabled: digest !== "",
    staleTime: Infinity,
    retry: false,
  });
}

/** `fetch` does not tell how much has been sent. */
function send({ code, onProgress, signal }: Sending): Promise<UploadOut> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.upload.onprogress = (event) => onProgress(event.lengthComputable ? event.loaded / event.total : 0);
    request.onload = () => (request.status === 201 ? resolve(JSON.parse(request.responseText) as UploadOut) : reject(refusal(request)));
    request.onerror = () => reject(new Refusal(0, unreachable(true)));
    request.onabort = () => reject(new DOMException("The upload was broken off.", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.open("POST", "/api/uploads");
    request.setRequestHeader("X-CSRFToken", csrfToken());
    request.send(formOf(code));
  });
}

/** Browsers send a file's name without its folders, so that the paths go beside. */
function formOf({ name, files }: CodeToSend): FormData {
  const form = new FormData();
  form.set("name", name);
  form.set("paths", JSON.stringify(files.map(({ path }) => path)));
  for (const { file } of files) form.append("files", file);
  return form;
}

function refusal(request: XMLHttpRequest): Refusal {
  try {
    const answer = JSON.parse(request.responseText) as Refusal["answer"];
    if (typeof answer.what === "string") return new Refusal(request.status, answer);
  } catch {
    // Whoever answered was not the hub itself, and has nothing to say in its form.
  }
  return new Refusal(request.status, {
    what: `The upload was answered with status ${request.status} and no explanation.`,
    where: "/api/uploads",
    what_to_do: "Look in the hub's log, and at what stands between it and this browser.",
    reason: "unexplained",
    faults: [],
  });
}

import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { keys } from "./keys";
import { cacheSink } from "./live-cache";
import { standingOf, type StandingJob } from "./standing-job";
import type { JobOut, WorkerOut } from "./types";

const worker = (step: number) => ({ rank: 0, step }) as WorkerOut;
const job = { id: 1, version: 1, name: "char-lm", state: "training", step: 5, metrics: {}, members: [], workers: [worker(5)] };

function watched() {
  const cache = new QueryClient();
  cache.setQueryData(keys.job(1), job as unknown as JobOut);
  const observer = new QueryObserver<JobOut, Error, StandingJob>(cache, { queryKey: keys.job(1), select: standingOf, enabled: false });
  observer.subscribe(() => undefined);
  return { sink: cacheSink(cache), observer };
}

const change = { type: "change", topic: "job:1" } as const;

test("steps and metrics that go on leave the rest of a job the very same object", () => {
  const { sink, observer } = watched();
  const before = observer.getCurrentResult().data;
  sink.change({ ...change, n: 2, version: 2, set: { step: 9, metrics: { loss: 1.2 }, last_event: 40 }, workers: [worker(9)] });
  expect(observer.getCurrentResult().data).toBe(before);
});

test("another state is told", () => {
  const { sink, observer } = watched();
  sink.change({ ...change, n: 2, version: 2, set: { state: "restarting" } });
  expect(observer.getCurrentResult().data?.state).toBe("restarting");
});

/** What pages ask of the hub, one hook for each question. */
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useAskAgain } from "./ask-again";
import { client, must } from "./client";
import { keys, type JobFilters } from "./keys";
import { newerJob } from "./live-frames";
import type { EventOut, JobOut, RoundOut, TimelineOut } from "./types";

/** Live frames keep these fresh; they are asked for again only when the socket says so. */
const LIVE = { staleTime: Infinity } as const;

export function useSession() {
  return useQuery({
    queryKey: keys.session,
    queryFn: ({ signal }) => must(client.GET("/api/session", { signal })),
    retry: false,
    staleTime: 60_000,
  });
}

export function useExample(enabled = true) {
  return useQuery({
    queryKey: keys.example,
    queryFn: ({ signal }) => must(client.GET("/api/example", { signal })),
    retry: false,
    enabled,
    staleTime: Infinity,
  });
}

export function useJobList(filters: JobFilters) {
  return useInfiniteQuery({
    queryKey: keys.jobList(filters),
    queryFn: ({ pageParam, signal }) => {
      const query = {
        state: filters.state ? [filters.state] : undefined,
        q: filters.q || undefined,
        label: filters.label ? [filters.label] : undefined,
        archived: filters.archived || undefined,
        cursor: pageParam ?? undefined,
      };
      return must(client.GET("/api/jobs", { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: (previous) => previous,
    ...LIVE,
  });
}

/** The whole job, or that part of it: who asks for a part is rendered when that part has changed. */
export function useJob<Part = JobOut>(id: number, part?: (job: JobOut) => Part) {
  const cache = useQueryClient();
  return useQuery({
    queryKey: keys.job(id),
    queryFn: async ({ signal }) => {
      const got = await must(client.GET("/api/jobs/{id}", { params: { path: { id } }, signal }));
      return newerJob(cache.getQueryData<JobOut>(keys.job(id)), got);
    },
    retry: 1,
    ...LIVE,
    ...(part && { select: part }),
  });
}

export function useNodes() {
  return useQuery({
    queryKey: keys.nodes,
    queryFn: ({ signal }) => must(client.GET("/api/nodes", { signal })),
    ...LIVE,
  });
}

/** What draining a node would do now, asked for again while `isOpen`: what is free elsewhere changes. */
export function useDrainForecast(name: string, isOpen: boolean) {
  return useQuery({
    queryKey: keys.drain(name),
    queryFn: ({ signal }) => must(client.GET("/api/nodes/{name}/drain", { params: { path: { name } }, signal })),
    enabled: isOpen,
    refetchInterval: isOpen ? 2000 : false,
  });
}

/** All rounds, lanes and marks, or that part of them. Kept by `useTimelineKept`; what is held stays when that fails. */
export function useTimeline<Part = TimelineOut>(id: number, part?: (timeline: TimelineOut) => Part) {
  return useQuery({
    queryKey: keys.timeline(id),
    queryFn: ({ signal }) => must(client.GET("/api/jobs/{id}/timeline", { params: { path: { id } }, signal })),
    ...LIVE,
    ...(part && { select: part }),
  });
}

/**
 * Asks for the timeline again when there is more of it, for as long as the view is there. While the job trains that is
 * every two seconds at most: a script may save its state all the time.
 */
export function useTimelineKept(id: number): void {
  const { version, pauseMs } = useTimelineVersion(id);
  useAskAgain(keys.timeline(id), version, pauseMs);
}

const TIMELINE_MS = { trains: 2000, else: 300 };

function useTimelineVersion(id: number) {
  const told = useJob(id, timelineVersion).data;
  return { version: told?.version, pauseMs: TIMELINE_MS[told?.isTraining ? "trains" : "else"] };
}

function timelineVersion({ timeline_version: version, state }: JobOut) {
  return { version, isTraining: state === "training" };
}

const CURVE_MS = 5000;

/** How step and metrics went over time; asked for again every five seconds while the job goes on. */
export function useCurve(id: number, isWanted: boolean, isOver: boolean) {
  return useQuery({
    queryKey: keys.curve(id),
    queryFn: ({ signal }) => must(client.GET("/api/jobs/{id}/progress", { params: { path: { id } }, signal })),
    enabled: isWanted,
    refetchInterval: isOver ? false : CURVE_MS,
    placeholderData: (previous) => previous,
  });
}

/** The lanes of these nodes' ranks; asked for again when `version` has changed. */
export function useRankLanes(id: number, nodes: readonly string[], version: number) {
  const isAsked = nodes.length > 0;
  const queryKey = keys.rankLanes(id, nodes);
  const lanes = useQuery({
    queryKey,
    queryFn: ({ signal }) => {
      const query = { node: [...nodes] };
      return must(client.GET("/api/jobs/{id}/timeline/ranks", { params: { path: { id }, query }, signal }));
    },
    enabled: isAsked,
    // While another lane is opened, those that are open stay.
    placeholderData: (previous) => previous,
    ...LIVE,
  });
  useAskAgain(queryKey, isAsked ? version : undefined);
  return lanes;
}

/** How each rank came into a round, while that `isWanted`. */
export function useWaterfall(id: number, { attempt, number }: RoundOut, isWanted: boolean) {
  const { version, pauseMs } = useTimelineVersion(id);
  const queryKey = keys.waterfall(id, attempt, number);
  const waterfall = useQuery({
    queryKey,
    queryFn: ({ signal }) => {
      const path = { id, attempt, number };
      return must(client.GET("/api/jobs/{id}/attempts/{attempt}/rounds/{number}/waterfall", { params: { path }, signal }));
    },
    enabled: isWanted,
    ...LIVE,
  });
  useAskAgain(queryKey, isWanted ? version : undefined, pauseMs);
  return waterfall;
}

export interface EventsSoFar {
  items: EventOut[];
  next: string | null;
  /** The hub had more than it gives at once. */
  more: boolean;
}

const EVENTS_AT_ONCE = 500;

const EVENTS_MS = 1000;

/** Every event so far, oldest first. Each asking adds what has come since. */
export function useEvents(id: number) {
  const cache = useQueryClient();
  const queryKey = keys.events(id);
  const last = useJob(id, lastEvent).data;
  const events = useQuery({
    queryKey,
    queryFn: ({ signal }) => followingEvents(id, cache.getQueryData<EventsSoFar>(queryKey), signal),
    refetchInterval: (query) => (query.state.data?.more ? 100 : false),
    ...LIVE,
  });
  useAskAgain(queryKey, last, EVENTS_MS);
  return events;
}

function lastEvent(job: JobOut): number {
  return job.last_event;
}

async function followingEvents(id: number, held: EventsSoFar | undefined, signal: AbortSignal): Promise<EventsSoFar> {
  const query = { after: held?.next ?? undefined, limit: EVENTS_AT_ONCE };
  const page = await must(client.GET("/api/jobs/{id}/events", { params: { path: { id }, query }, signal }));
  const more = page.items.length === EVENTS_AT_ONCE;
  return { items: [...(held?.items ?? []), ...page.items], next: page.next ?? held?.next ?? null, more };
}

/** A command on its way: asked for each 200 ms until it has ended. */
export function useCommand(id: string | null) {
  return useQuery({
    queryKey: keys.command(id ?? "none"),
    queryFn: ({ signal }) => must(client.GET("/api/commands/{id}", { params: { path: { id: id as string } }, signal })),
    enabled: id !== null,
    refetchInterval: (query) => (query.state.data?.is_final ? false : 200),
    retry: true,
    retryDelay: 500,
  });
}

/** Whether the person may change anything. Viewers are told so where an action would be. */
export function useMayOperate(): boolean {
  return useSession().data?.role === "operator";
}

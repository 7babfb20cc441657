/** Questions about logs: a window that moves, its live end, and a search. */
import { useInfiniteQuery, useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import { client, must } from "./client";
import { keys, type LogAddress, type LogPlace } from "./keys";
import { newerFrom, olderFrom, openedAround, openedAtEnd, PAGE_LINES, withNewer, withOlder, type LogWindow } from "./log-window";
import type { LogPage } from "./types";

/** Lines are on the page within a second of being written. */
const FOLLOW_MS = 800;
/** A window nobody looks at any more is not worth its memory for long. */
const KEPT_MS = 30_000;
const HITS = 500;
const PAGES_AT_ONCE = 3;

interface Where {
  before?: string;
  after?: string;
  at?: string;
}

function ask(of: LogAddress, where: Where, signal?: AbortSignal): Promise<LogPage> {
  const { job: id, ...which } = of;
  const query = { ...which, ...where, limit: PAGE_LINES };
  return must(client.GET("/api/jobs/{id}/logs", { params: { path: { id }, query }, ...(signal && { signal }) }));
}

/** A part of the log, opened at its end or around a place. While `follow`, what is written is added within a second. */
export function useLogWindow(of: LogAddress | null, place: LogPlace, follow: boolean) {
  const cache = useQueryClient();
  const queryKey = of === null ? ["jobs", "log", "none"] : keys.log(of, place);
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => {
      const held = cache.getQueryData<LogWindow>(queryKey);
      return held === undefined ? open(of as LogAddress, place, signal) : grown(of as LogAddress, held, signal);
    },
    enabled: of !== null,
    refetchInterval: (query) => (follow && query.state.data?.isAtEnd !== false ? FOLLOW_MS : false),
    retry: false,
    staleTime: Infinity,
    gcTime: KEPT_MS,
    refetchOnWindowFocus: follow,
    // Lines never change; comparing thousands of them each time would be for nothing.
    structuralSharing: false,
  });
}

async function open(of: LogAddress, place: LogPlace, signal: AbortSignal): Promise<LogWindow> {
  if (place === null) return openedAtEnd(await ask(of, {}, signal));
  if ("line" in place) {
    const [before, after] = await Promise.all([ask(of, { before: place.line }, signal), ask(of, { after: place.line }, signal)]);
    return openedAround(before, after);
  }
  const after = await ask(of, { at: place.at }, signal);
  const before = after.previous === null ? { ...after, items: [] } : await ask(of, { before: after.previous }, signal);
  return openedAround(before, after);
}

async function grown(of: LogAddress, held: LogWindow, signal: AbortSignal): Promise<LogWindow> {
  const after = newerFrom(held);
  // There was nothing: a page without lines may have no place to go on from.
  if (after === null || (held.pieces.length === 1 && held.pieces[0]?.lines.length === 0)) return open(of, null, signal);
  let window = held;
  for (let asked = 0; asked < PAGES_AT_ONCE; asked += 1) {
    const page = await ask(of, { after: newerFrom(window) ?? after }, signal);
    window = withNewer(window, page);
    if (page.items.length < PAGE_LINES) return window;
  }
  // More is written than one can read: what is shown is the end.
  return open(of, null, signal);
}

/** Fetches the lines before or after those that the window holds. Each gives whether any came. */
export function useMoreLines(of: LogAddress | null, place: LogPlace) {
  const cache = useQueryClient();
  const older = useCallback(() => fetchMore(cache, of, place, olderFrom, "before", withOlder), [cache, of, place]);
  const newer = useCallback(() => fetchMore(cache, of, place, newerFrom, "after", withNewer), [cache, of, place]);
  return { older, newer };
}

async function fetchMore(
  cache: QueryClient,
  of: LogAddress | null,
  place: LogPlace,
  from: (window: LogWindow) => string | null,
  side: "before" | "after",
  with_: (window: LogWindow, page: LogPage) => LogWindow,
): Promise<boolean> {
  if (of === null) return false;
  const key = keys.log(of, place);
  const held = cache.getQueryData<LogWindow>(key);
  const where = held === undefined ? null : from(held);
  if (where === null) return false;
  const page = await ask(of, { [side]: where });
  // Meanwhile the window may have grown; then the page does not fit any more.
  cache.setQueryData<LogWindow>(key, (now) => (now !== undefined && from(now) === where ? with_(now, page) : now));
  return page.items.length > 0;
}

/** Lines that match, newest page first. Nothing is asked for an empty pattern. */
export function useLogSearch(of: LogAddress | null, pattern: string, isCaseSensitive: boolean) {
  const search = useInfiniteQuery({
    queryKey: of === null ? ["jobs", "log search", "none"] : keys.logSearch(of, pattern, isCaseSensitive),
    queryFn: ({ pageParam, signal }) => {
      const { job: id, ...which } = of as LogAddress;
      const query = { ...which, q: pattern, case: isCaseSensitive, limit: HITS, before: pageParam ?? undefined };
      return must(client.GET("/api/jobs/{id}/logs", { params: { path: { id }, query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.previous ?? undefined,
    enabled: of !== null && pattern !== "",
    retry: false,
    staleTime: Infinity,
    gcTime: KEPT_MS,
  });
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = search;
  const goesOn = hasNextPage && !isFetching && !isError && isWorthGoingOn(data?.pages ?? [], data?.pageParams ?? []);
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, fetchNextPage]);
  return search;
}

/** A long log is searched in several goes, as long as each comes further and there are not hits enough. */
function isWorthGoingOn(pages: LogPage[], asked: unknown[]): boolean {
  const hits = pages.reduce((sum, page) => sum + page.items.length, 0);
  return hits < HITS && pages.at(-1)?.previous !== asked.at(-1);
}

/** Where the browser fetches a whole stream as a file. */
export function downloadAddress(of: LogAddress): string | null {
  if (of.rank === "all" || of.stream === "both") return null;
  const which = { attempt: of.attempt, round: of.round, rank: of.rank, stream: of.stream };
  const query = new URLSearchParams(Object.entries(which).map(([name, value]) => [name, String(value)]));
  return `/api/jobs/${of.job}/logs/download?${query.toString()}`;
}

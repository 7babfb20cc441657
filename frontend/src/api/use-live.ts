/** The one live socket as React sees it. */
import { createContext, useContext, useEffect, useSyncExternalStore } from "react";
import type { Live, LiveStatus } from "./live";

export const LiveContext = createContext<Live | null>(null);

function useLiveSocket(): Live {
  const live = useContext(LiveContext);
  if (live === null) throw new Error("a view outside of LiveProvider asked for the live socket");
  return live;
}

/** Keeps what the query cache holds of that topic live for as long as the view is there. */
export function useTopic(topic: string): void {
  const live = useLiveSocket();
  useEffect(() => live.subscribe(topic), [live, topic]);
}

/** Whether the hub serves a newer page than this one. */
export function useOutdated(): boolean {
  const live = useLiveSocket();
  return useSyncExternalStore(live.onStatus, live.isOutdated);
}

export function useLiveStatus(): LiveStatus {
  const live = useLiveSocket();
  return useSyncExternalStore(live.onStatus, live.status);
}

/** Since when what is shown is not live, by the hub's clock; null: it is. Unlike the whole status no news at each pulse. */
export function useStaleSince(): number | null {
  const live = useLiveSocket();
  return useSyncExternalStore(live.onStatus, () => staleSince(live.status()));
}

function staleSince(status: LiveStatus): number | null {
  return status.kind === "stale" ? status.since : null;
}

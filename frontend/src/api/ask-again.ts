/** When a question is put to the hub once more because a live frame said that there is more to know. */
import { useQueryClient, type QueryClient, type QueryKey } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

interface Asked {
  version: number;
  at: number;
}

/** How long until it is asked again, in ms. Null: there is nothing new. */
export function waitOf(before: Asked | undefined, { version, at }: Asked, pauseMs: number): number | null {
  if (before === undefined) return 0;
  return before.version === version ? null : Math.max(0, before.at + pauseMs - at);
}

/**
 * Asks again when `version` has changed: at once after a while of quiet, and no two times within `pauseMs`. Undefined:
 * nobody wants to know. Renders nothing by itself.
 */
export function useAskAgain(queryKey: QueryKey, version: number | undefined, pauseMs = 0): void {
  const cache = useQueryClient();
  const asked = useRef<(Asked & { name: string }) | undefined>(undefined);
  const name = JSON.stringify(queryKey);
  useEffect(() => {
    if (version === undefined) return;
    const key = JSON.parse(name) as QueryKey;
    const before = asked.current?.name === name ? asked.current : undefined;
    const note = () => (asked.current = { name, version, at: Date.now() });
    // The first answer is on its way already, and is at least as new.
    if (before === undefined && isOnItsWay(cache, key)) return void note();
    const ask = () => {
      note();
      void askAgain(cache, key);
    };
    const wait = waitOf(before, { version, at: Date.now() }, pauseMs);
    if (wait === null) return;
    // Not put off by a timer: a page in the background has slow ones.
    if (wait === 0) return ask();
    const timer = setTimeout(ask, wait);
    return () => clearTimeout(timer);
  }, [cache, name, version, pauseMs]);
}

function isOnItsWay(cache: QueryClient, queryKey: QueryKey): boolean {
  return cache.isFetching({ queryKey, exact: true }) > 0;
}

/** An answer that is on its way may be older than what is asked for: it is let come, and then it is asked once more. */
export async function askAgain(cache: QueryClient, queryKey: QueryKey): Promise<void> {
  const ask = () => cache.refetchQueries({ queryKey, exact: true }, { cancelRefetch: false });
  if (isOnItsWay(cache, queryKey)) await ask();
  await ask();
}

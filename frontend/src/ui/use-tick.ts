import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let count = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    count += 1;
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Renders the caller again each second; all callers share one timer. */
export function useTick(): number {
  return useSyncExternalStore(listen, () => count);
}

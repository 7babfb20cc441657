import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function tell(): void {
  for (const each of listeners) each();
}

/** A page that nobody sees has no seconds; it catches up when it is looked at again. */
function tick(): void {
  if (!document.hidden) tell();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    timer = setInterval(tick, 1000);
    document.addEventListener("visibilitychange", tick);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    document.removeEventListener("visibilitychange", tick);
    timer = undefined;
  };
}

/** What `read` says now: looked at each second, and rendered when it has changed. All callers share one timer. */
export function useTicking<Value extends string | number>(read: () => Value): Value {
  return useSyncExternalStore(listen, read);
}

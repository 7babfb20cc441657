import { useSyncExternalStore } from "react";
import { untilWhole } from "@/lib/clock";

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;

function tell(): void {
  for (const each of listeners) each();
}

/** A page that nobody sees has no seconds; it catches up when it is looked at again. */
function look(): void {
  if (!document.hidden) tell();
}

/** At whole seconds, as all that goes on by itself, so that the browser paints once for all of it. */
function wait(): void {
  timer = setTimeout(() => {
    wait();
    look();
  }, untilWhole(1000, Date.now()));
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    wait();
    document.addEventListener("visibilitychange", look);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
    timer = undefined;
  };
}

/** What `read` says now: looked at each second, and rendered when it has changed. All callers share one timer. */
export function useTicking<Value extends string | number>(read: () => Value): Value {
  return useSyncExternalStore(listen, read);
}

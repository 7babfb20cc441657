/** What the views that are on the page offer to do: the command palette lists it. */
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface Act {
  /** Stays the same while it means the same: what was chosen lately is remembered by it. */
  id: string;
  says: string;
  /** What stands beside it, and finds it too. */
  note?: string;
  /** The key that does the same. */
  keyName?: string;
  /** It leads to the end of something, so it is never put first because it was chosen lately. */
  isDanger?: true;
  run: () => void;
}

type Make = () => readonly Act[];

const offers = new Map<object, Make>();
const listeners = new Set<() => void>();
let made: readonly Act[] | null = null;

function changed(): void {
  made = null;
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Offers acts for as long as the caller is on the page. They are made only when somebody looks. */
export function useActs(make: Make): void {
  const owner = useRef({});
  useEffect(() => {
    offers.set(owner.current, make);
    changed();
  });
  useEffect(() => {
    const mine = owner.current;
    return () => {
      offers.delete(mine);
      changed();
    };
  }, []);
}

/** All that is offered now, in the order of the views. */
export function useOffered(): readonly Act[] {
  return useSyncExternalStore(listen, () => (made ??= [...offers.values()].flatMap((make) => make())));
}

import { useEffect, useRef, type RefObject } from "react";

/** Key names as pressed, one after the other for two: "/", "?", "g j". */
export type KeyMap = Record<string, () => void>;

const PAUSE_MS = 1000;

/** What takes the keys for itself while it is open: dialogs, and the menus and lists of fields. */
const OPEN = "[role=dialog], [role=menu], [role=listbox]";

const maps = new Set<RefObject<KeyMap>>();

/** Fields that take no letters. */
const UNTYPED: ReadonlySet<string> = new Set(["checkbox", "radio", "button", "submit"]);

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !UNTYPED.has(target.type);
  return target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName);
}

export function isSomethingOpen(): boolean {
  return document.querySelector(OPEN) !== null;
}

/** Does what that key does on the page in view. */
export function pressKey(name: string): void {
  for (const map of maps) map.current[name]?.();
}

/** Keys of the page while nobody types into a field and nothing is open that takes them. */
export function useKeys(map: KeyMap): void {
  const latest = useRef(map);
  useEffect(() => {
    latest.current = map;
  });
  useEffect(() => {
    maps.add(latest);
    return () => void maps.delete(latest);
  }, []);
  useEffect(() => {
    let before = { key: "", at: 0 };
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (isSomethingOpen()) return;
      const pair = event.timeStamp - before.at < PAUSE_MS ? `${before.key} ${event.key}` : "";
      const act = latest.current[pair] ?? latest.current[event.key];
      before = { key: event.key, at: event.timeStamp };
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}

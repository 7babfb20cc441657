import { useEffect, useRef } from "react";

/** Key names as pressed, one after the other for two: "/", "?", "g j". */
export type KeyMap = Record<string, () => void>;

const PAUSE_MS = 1000;

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** Keys of the page while nobody types into a field and no dialog is open. */
export function useKeys(map: KeyMap): void {
  const latest = useRef(map);
  useEffect(() => {
    latest.current = map;
  });
  useEffect(() => {
    let before = { key: "", at: 0 };
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("[role=dialog]") !== null) return;
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

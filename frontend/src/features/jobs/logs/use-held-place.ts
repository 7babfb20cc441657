import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { keys, linesOf, type LogAddress, type LogPlace, type LogWindow } from "@/api";

/** From where the lines are held: a line that is among them needs no new ones, and they stay when it is left. */
export function useHeldPlace(of: LogAddress, place: LogPlace): LogPlace {
  const cache = useQueryClient();
  const [held, setHeld] = useState(place);
  const [asked, setAsked] = useState(place);
  if (JSON.stringify(asked) === JSON.stringify(place)) return held;
  setAsked(place);
  if (isAmong(place, cache.getQueryData<LogWindow>(keys.log(of, held)))) return held;
  setHeld(place);
  return place;
}

function isAmong(place: LogPlace, window: LogWindow | undefined): boolean {
  if (place === null || !("line" in place) || window === undefined) return false;
  return linesOf(window).some((line) => line.key === place.line);
}

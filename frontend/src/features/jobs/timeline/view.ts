/** Which stretch of time the timeline shows, how it is moved, and how it stands in the address. Pure. */

export const RANGES = { "10m": 600_000, "1h": 3_600_000, all: Infinity } as const;
export type Range = keyof typeof RANGES;

/** From when to when, in milliseconds since the epoch. */
export interface Stretch {
  from: number;
  to: number;
}

/** A range that ends at now and follows it, or a stretch that stays. */
export type Shown = { range: Range } | Stretch;

/** From the beginning of the job to now. */
export interface Bounds {
  began: number;
  now: number;
}

/** A phase of a recovery can be as short as a few milliseconds. */
const SHORTEST_MS = 200;
const LEAST_MS = 1000;

export function isFollowing(shown: Shown): shown is { range: Range } {
  return "range" in shown;
}

export function stretchOf(shown: Shown, { began, now }: Bounds): Stretch {
  if (!isFollowing(shown)) return shown;
  const to = Math.max(now, began + LEAST_MS);
  return { from: Math.max(began, to - RANGES[shown.range]), to };
}

const SECOND_MS = 1000;

/** How long until the picture is another one as time goes on: whole seconds, and no less than a pixel. Null: it stays, as now is out of view. */
export function pixelMs({ from, to }: Stretch, px: number, now: number): number | null {
  return now < from || now > to ? null : SECOND_MS * Math.max(1, Math.ceil((to - from) / px / SECOND_MS));
}

/** `factor` times as near, while what is at `at` stays where it is. */
export function zoomed({ from, to }: Stretch, factor: number, at: number, bounds: Bounds): Stretch {
  const whole = Math.max(LEAST_MS, bounds.now - bounds.began, to - from);
  const length = Math.min(whole, Math.max(SHORTEST_MS, (to - from) / factor));
  const share = (at - from) / (to - from);
  return within({ from: at - share * length, to: at + (1 - share) * length }, bounds);
}

/** Later by that much, as far as there is anything. */
export function moved({ from, to }: Stretch, ms: number, bounds: Bounds): Stretch {
  return within({ from: from + ms, to: to + ms }, bounds);
}

/** The same length, centred on a moment that it does not hold; as it is when it does. */
export function showing(stretch: Stretch, at: number, bounds: Bounds): Stretch {
  if (stretch.from <= at && at <= stretch.to) return stretch;
  return moved(stretch, at - (stretch.from + stretch.to) / 2, bounds);
}

function within({ from, to }: Stretch, { began, now }: Bounds): Stretch {
  const length = to - from;
  const start = Math.max(began, Math.min(from, Math.max(began, now - length)));
  return { from: start, to: start + length };
}

export function readShown(params: URLSearchParams): Shown {
  const from = Date.parse(params.get("from") ?? "");
  const to = Date.parse(params.get("to") ?? "");
  return from < to ? { from, to } : { range: readRange(params) };
}

/** The range that is followed, or was before the picture was moved. */
export function readRange(params: URLSearchParams): Range {
  const range = params.get("range");
  return range !== null && range in RANGES ? (range as Range) : "10m";
}

/** The same as parameters of the address; null: it has none of that name. A stretch leaves the range, to come back to. */
export function writtenShown(shown: Shown): Record<string, string | null> {
  if (isFollowing(shown)) return { range: shown.range, from: null, to: null };
  return { from: asIso(shown.from), to: asIso(shown.to) };
}

function asIso(ms: number): string {
  return new Date(ms).toISOString();
}

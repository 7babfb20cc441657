/** The hub's clock as this page knows it, so that ages are right on a machine whose clock is wrong. */

let offsetMs = 0;

export function setServerTime(iso: string): void {
  const server = Date.parse(iso);
  if (!Number.isNaN(server)) offsetMs = server - Date.now();
}

/** Milliseconds since the epoch by the hub's clock. */
export function serverNow(): number {
  return asServerTime(Date.now());
}

/** A moment of this machine's clock by the hub's. */
export function asServerTime(ms: number): number {
  return ms + offsetMs;
}

/** The milliseconds from `now` until a whole number of `stepMs` has passed. */
export function untilWhole(stepMs: number, now: number): number {
  return stepMs - (now % stepMs);
}

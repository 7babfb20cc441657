/** How far a node's clock is from the hub's, as the page writes it. */

/** Above this, with the error taken off, the times on the page would mislead. */
const TOLERATED_S = 0.5;

export interface Measured {
  clock_offset_s: number | null;
  clock_error_s: number | null;
}

/** "+1.8 s", "−12 ms", or "±2 ms" where no difference can be told. Null: not measured. */
export function clockText({ clock_offset_s: offset, clock_error_s: error }: Measured): string | null {
  if (offset === null || error === null) return null;
  if (Math.abs(offset) <= error) return `±${amount(error)}`;
  return `${offset < 0 ? "−" : "+"}${amount(Math.abs(offset))}`;
}

export function isClockOff({ clock_offset_s: offset, clock_error_s: error }: Measured): boolean {
  return offset !== null && error !== null && Math.abs(offset) - error > TOLERATED_S;
}

/** What that means, in a sentence. */
export function clockMeaning(node: Measured): string {
  const { clock_offset_s: offset, clock_error_s: error } = node;
  if (offset === null || error === null) return "How far this node's clock is from the hub's has not been measured.";
  if (Math.abs(offset) <= error) return `This node's clock agrees with the hub's to within ${amount(error)}.`;
  const apart = `This node's clock is ${amount(Math.abs(offset))} ${offset < 0 ? "behind" : "ahead of"} the hub's (±${amount(error)})`;
  return `${apart}: the times of its records are off by that much.${isClockOff(node) ? " Set it right, for example with NTP." : ""}`;
}

function amount(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 100 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

/** Numbers, times and durations as the page writes them. */

const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function formatCount(value: number): string {
  return GROUPED.format(value);
}

/** A measured value with about four figures: 1.284, 0.0312, 12.3. */
export function formatMetric(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e6)) return value.toExponential(2);
  if (size >= 1000) return GROUPED.format(value);
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

export function formatRate(perSecond: number): string {
  return `${perSecond >= 100 ? perSecond.toFixed(0) : perSecond >= 10 ? perSecond.toFixed(1) : perSecond.toFixed(2)} it/s`;
}

/** A short duration: "0.4 s", "14 s", "3 min 20 s", "2 h 05 min", "3 d 4 h". */
export function formatDuration(seconds: number): string {
  const s = Math.max(0, seconds);
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${two(Math.floor(s % 60))} s`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${two(Math.floor((s % 3600) / 60))} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}

/** How long ago, for a text that ticks each second: "now", "14 s", "3 min", "2 h", "5 d". */
export function formatAge(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 1) return "now";
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86_400)} d`;
}

/** What is left, rounded to what one can plan with: "about 3 h 20 min". */
export function formatRemaining(seconds: number): string {
  if (seconds < 60) return "less than 1 min";
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `about ${minutes} min`;
  if (minutes < 1440) return `about ${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  return `about ${Math.floor(minutes / 1440)} d ${Math.floor((minutes % 1440) / 60)} h`;
}

/** Time of day: "14:02:11", or with tenths "14:02:11.4". */
export function formatClock(at: string | number | Date, tenths = false): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "unknown";
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return tenths ? `${time}.${Math.floor(date.getMilliseconds() / 100)}` : time;
}

/** Day and time, for titles: "2026-11-29 14:02:11". */
export function formatMoment(at: string | number | Date): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "unknown";
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${formatClock(date)}`;
}

export function formatBytes(bytes: number): string {
  const gib = bytes / 2 ** 30;
  if (gib >= 1) return gib >= 10 ? `${gib.toFixed(0)} GiB` : `${gib.toFixed(1)} GiB`;
  const mib = bytes / 2 ** 20;
  return mib >= 1 || bytes === 0 ? `${mib.toFixed(0)} MiB` : `${Math.ceil(bytes / 1024)} KiB`;
}

/** "1 node", "2 nodes". */
export function plural(count: number, word: string, many = `${word}s`): string {
  return `${formatCount(count)} ${count === 1 ? word : many}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

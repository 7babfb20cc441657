/** What of the metrics is shown, as it stands in the address. Pure. */

export type Axis = "time" | "step";

/** Of the axis: milliseconds since the epoch, or steps. */
export interface Span {
  from: number;
  to: number;
}

export interface MetricsView {
  /** Null: whatever is shown at first. */
  names: string[] | null;
  axis: Axis;
  /** Null: all there is. */
  span: Span | null;
  /** Those with a logarithmic scale. */
  logs: ReadonlySet<string>;
}

const NAME = "metric";
const NONE = "-";

export function readView(params: URLSearchParams): MetricsView {
  const names = params.getAll(NAME);
  return {
    names: names.length === 0 ? null : names.filter((name) => name !== NONE),
    axis: params.get("mx") === "step" ? "step" : "time",
    span: readSpan(params),
    logs: new Set(params.getAll("mlog")),
  };
}

/** The same in the address; what is as at first leaves nothing there. */
export function writeView(params: URLSearchParams, view: MetricsView): void {
  for (const name of [NAME, "mx", "mfrom", "mto", "mlog"]) params.delete(name);
  if (view.names?.length === 0) params.append(NAME, NONE);
  for (const name of view.names ?? []) params.append(NAME, name);
  if (view.axis === "step") params.set("mx", "step");
  if (view.span !== null) {
    params.set("mfrom", String(Math.round(view.span.from)));
    params.set("mto", String(Math.round(view.span.to)));
  }
  for (const name of view.logs) params.append("mlog", name);
}

function readSpan(params: URLSearchParams): Span | null {
  const [from, to] = [params.get("mfrom"), params.get("mto")].map((text) => (text === null ? NaN : Number(text)));
  return from !== undefined && to !== undefined && from < to ? { from, to } : null;
}

export interface Named {
  name: string;
  group: "job" | "torch";
}

const AT_FIRST = 4;
/** Told of every job, so that they come behind what the script itself measures. */
const OF_EVERY_JOB = ["rate", "step"];

/** What is shown of these as long as nobody chooses: the job's own first, such as loss. */
export function namesAtFirst(names: readonly Named[]): string[] {
  const own = names.filter((each) => each.group === "job").map((each) => each.name);
  const told = OF_EVERY_JOB.filter((name) => own.includes(name));
  return [...own.filter((name) => !told.includes(name)).slice(0, AT_FIRST - told.length), ...told];
}

export function toggled(names: readonly string[], name: string): string[] {
  return names.includes(name) ? names.filter((each) => each !== name) : [...names, name];
}

/** Torch's own names without what they all begin with. */
export function spoken(name: string): string {
  return name.replace(/^torch:/, "");
}

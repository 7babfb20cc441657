/** Talks to the hub's HTTP API with the session's cookie; what the hub refuses becomes a `Refusal`. */
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";

type ErrorAnswer = components["schemas"]["ErrorAnswer"];

/** What the hub said no to, in its own words. `status` 0: the hub could not be reached. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly answer: ErrorAnswer,
  ) {
    super(answer.what);
  }

  get reason(): string {
    return this.answer.reason;
  }

  /** The whole of it: what was wrong and what to do. */
  get sentence(): string {
    return [this.answer.what, this.answer.what_to_do].filter(Boolean).join(" ");
  }
}

const CHANGES = new Set(["POST", "PUT", "PATCH", "DELETE"]);

const withCsrf: Middleware = {
  onRequest({ request }) {
    if (CHANGES.has(request.method)) request.headers.set("X-CSRFToken", csrfToken());
    return request;
  },
};

/** What a change has to carry, so that no other site can ask for it. */
export function csrfToken(): string {
  return cookie("regroup_csrf");
}

function cookie(name: string): string {
  const found = document.cookie.split("; ").find((pair) => pair.startsWith(`${name}=`));
  return found === undefined ? "" : decodeURIComponent(found.slice(name.length + 1));
}

/** Half-open connections never answer, and a browser has six of them at most. */
const LIMIT_MS = 15_000;

/**
 * After a silence, connections that the browser keeps for later may be dead without its knowing. A question on each of
 * them at once (it keeps six to a host) finds these out, so that no question of a page waits for an answer on one.
 */
export async function endDeadConnections(): Promise<void> {
  const knock = async () => {
    const answer = await fetch("/favicon.svg", { cache: "no-store", signal: AbortSignal.timeout(1000) });
    await answer.blob();
  };
  await Promise.allSettled(Array.from({ length: 6 }, knock));
}

async function ask(request: Request): Promise<Response> {
  try {
    return await fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(LIMIT_MS)]) });
  } catch (error) {
    throw request.signal.aborted ? error : new Refusal(0, unreachable(CHANGES.has(request.method)));
  }
}

const client = createClient<paths>({
  baseUrl: window.location.origin,
  credentials: "same-origin",
  fetch: ask,
});
client.use(withCsrf);
export { client };

interface Answer<T> {
  data?: T | undefined;
  error?: unknown;
  response: Response;
}

/** The data of an answer. Throws a `Refusal` for anything but success. */
export async function must<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (error) {
    if (error instanceof Refusal || (error instanceof DOMException && error.name === "AbortError")) throw error;
    throw new Refusal(0, unreachable(false));
  }
  if (!answer.response.ok) throw new Refusal(answer.response.status, asAnswer(answer.error, answer.response));
  return answer.data as T;
}

export function unreachable(isChange: boolean): ErrorAnswer {
  const look = isChange ? " It may have been done all the same: look before you try again." : "";
  return {
    what: `The hub did not answer.${look}`,
    where: "",
    what_to_do: "Check that it runs and that this machine reaches it, then try again.",
    reason: "unreachable",
    faults: [],
  };
}

function asAnswer(error: unknown, response: Response): ErrorAnswer {
  if (typeof error === "object" && error !== null && "what" in error && "reason" in error) {
    const answer = error as Partial<ErrorAnswer> & Pick<ErrorAnswer, "what" | "reason">;
    return { where: "", what_to_do: "", faults: [], ...answer };
  }
  const path = new URL(response.url).pathname;
  return {
    what: `The hub answered ${path} with status ${response.status} and no explanation.`,
    where: path,
    what_to_do: "Look in the hub's log.",
    reason: "unexplained",
    faults: [],
  };
}

import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { keys, Refusal } from "@/api";

/** What cannot get better by asking again is not asked again; a session that is over leads to the log-in. */
export function createQueryClient(): QueryClient {
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        if (isSessionOver(error) && query.queryKey[0] !== keys.session[0]) {
          void queries.invalidateQueries({ queryKey: keys.session });
        }
      },
    }),
    mutationCache: new MutationCache({
      onError: (error) => {
        if (isAccountChanged(error)) void queries.invalidateQueries({ queryKey: keys.session });
      },
    }),
    defaultOptions: {
      queries: {
        networkMode: "always",
        refetchOnWindowFocus: false,
        retry: (failures, error) => failures < 3 && !(error instanceof Refusal && isForGood(error.status)),
      },
      mutations: { networkMode: "always" },
    },
  });
  return queries;
}

function isSessionOver(error: unknown): boolean {
  return error instanceof Refusal && error.status === 401;
}

/** Logged out elsewhere, or no longer an operator: ask who one is, and show what that account may do. */
function isAccountChanged(error: unknown): boolean {
  return error instanceof Refusal && ["not_authenticated", "not_an_operator"].includes(error.reason);
}

function isForGood(status: number): boolean {
  return status >= 400 && status < 500;
}

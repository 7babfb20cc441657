import { Button, Checkbox, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { useLogSearch, type LogAddress, type LogLineOut, type LogPage } from "@/api";
import { formatBytes, formatCount, plural } from "@/lib/format";
import { Refused } from "@/ui/refused";
import { useKeys } from "@/ui/use-keys";
import classes from "./log-tab.module.css";

interface Props {
  of: LogAddress;
  pattern: string;
  isCaseSensitive: boolean;
  /** The line that is shown now, by its key. */
  target: string | null;
  set: (values: Record<string, string>) => void;
}

/** Searches the whole log on its nodes, by a regular expression, and leads from hit to hit. */
export function LogSearch({ of, pattern, isCaseSensitive, target, set }: Props) {
  const [text, setText] = useState(pattern);
  const search = useLogSearch(of, pattern, isCaseSensitive);
  const hits = hitsOf(search.data?.pages ?? []);
  const at = hits.findIndex((hit) => hit.key === target);
  useEffect(() => setText(pattern), [pattern]);
  const show = (hit: LogLineOut | undefined) => hit && set({ line: hit.key, at: "" });
  // The newest hit comes first: from the end one goes back.
  const back = () => show(at < 0 ? hits.at(-1) : hits[at - 1]);
  const on = () => show(at < 0 ? hits.at(-1) : hits[at + 1]);
  const begin = () => {
    if (text === pattern) back();
    else set({ find: text, line: "", at: "" });
  };
  useKeys({ "[": back, "]": on });
  return (
    <form
      className={classes.controls}
      role="search"
      aria-label="Search in this log"
      onSubmit={(event) => {
        event.preventDefault();
        begin();
      }}
    >
      <TextInput
        size="xs"
        type="search"
        className={classes.search}
        aria-label="Regular expression to search for"
        placeholder="search: a regular expression"
        value={text}
        maxLength={500}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") set({ find: "" });
        }}
      />
      <Checkbox
        size="xs"
        label="case"
        checked={isCaseSensitive}
        onChange={(event) => set({ case: event.currentTarget.checked ? "on" : "" })}
      />
      {/* Never off, not even while it searches: Enter in the field would do nothing then. */}
      <Button size="compact-xs" variant="default" type="submit" miw={84} aria-busy={search.isFetching}>
        {search.isFetching ? "Searching …" : "Search"}
      </Button>
      {pattern !== "" && (
        <>
          <Button size="compact-xs" variant="default" disabled={hits.length === 0 || at === 0} onClick={back} aria-label="Hit before ([)">
            ↑ before
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            disabled={hits.length === 0 || at === hits.length - 1}
            onClick={on}
            aria-label="Hit after (])"
          >
            ↓ after
          </Button>
          <span className={classes.hits} role="status">
            {search.isPending ? "Searching on the nodes …" : found(hits.length, at, search.hasNextPage)}
          </span>
          {search.hasNextPage && !search.isFetching && (
            <Button size="compact-xs" variant="subtle" onClick={() => void search.fetchNextPage()}>
              Search further back
            </Button>
          )}
        </>
      )}
      {search.error !== null && <Refused error={search.error} tried={`${pattern} was searched for.`} retry={search.refetch} />}
      {search.data && <Unsearched page={search.data.pages.at(-1)} />}
    </form>
  );
}

/** Oldest first; a page that was searched twice at its edge gives no hit twice. */
function hitsOf(pages: LogPage[]): LogLineOut[] {
  const byKey = new Map<string, LogLineOut>();
  for (const page of [...pages].reverse()) for (const hit of page.items) byKey.set(hit.key, hit);
  return [...byKey.values()];
}

function found(count: number, at: number, hasMore: boolean): string {
  const all = `${plural(count, "hit")}${hasMore ? " so far, from the end" : ""}`;
  if (count === 0) return hasMore ? "No hit so far." : "No line matches.";
  return at < 0 ? all : `${formatCount(at + 1)} of ${all}`;
}

/** What was left out, and why. */
function Unsearched({ page }: { page: LogPage | undefined }) {
  if (page === undefined) return null;
  const silent = page.unread.map((one) => one.why);
  return (
    <>
      {page.unsearched_bytes > 0 && (
        <span className="quiet small">{formatBytes(page.unsearched_bytes)} of older lines have not been searched yet.</span>
      )}
      {silent.length > 0 && <span className="quiet small">{silent.join(" ")}</span>}
    </>
  );
}

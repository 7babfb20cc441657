/** The part of a log that a page holds: some neighbouring pieces of it, and where it goes on. Pure. */
import type { LogLineOut, LogPage } from "./types";

export const PAGE_LINES = 500;
const MOST_PIECES = 12;

interface LogPiece {
  lines: LogLineOut[];
  /** For what comes before its first line; null: nothing does. */
  previous: string | null;
  /** For what comes after its last line. */
  next: string | null;
}

export interface LogWindow extends Pick<LogPage, "problem" | "unread" | "dropped_bytes" | "node"> {
  pieces: LogPiece[];
  /** When the end was last asked for, nothing came after the last line here. */
  isAtEnd: boolean;
}

export function openedAtEnd(page: LogPage): LogWindow {
  return { ...factsOf(page), pieces: [pieceOf(page)], isAtEnd: true };
}

/** Around a place: what precedes it and what follows. */
export function openedAround(before: LogPage, after: LogPage): LogWindow {
  const window = { ...factsOf(after), pieces: [pieceOf(before)], isAtEnd: false };
  return withNewer(window, after);
}

/** With the page that comes after it; what is far before goes. */
export function withNewer(window: LogWindow, page: LogPage): LogWindow {
  const last = window.pieces.at(-1);
  const isAtEnd = page.items.length === 0;
  if (last === undefined || isAtEnd) return unlessSame(window, { ...window, ...factsOf(page), isAtEnd });
  const joined = last.lines.length + page.items.length <= PAGE_LINES;
  const added = joined ? { ...last, lines: [...last.lines, ...page.items], next: page.next ?? last.next } : pieceOf(page);
  const pieces = [...(joined ? window.pieces.slice(0, -1) : window.pieces), added];
  // While the end is followed, what has just been written is the end until the next look.
  return { ...factsOf(page), pieces: pieces.slice(-MOST_PIECES), isAtEnd: window.isAtEnd };
}

/** The window itself when nothing is new, so that nothing is rendered for it. */
function unlessSame(window: LogWindow, next: LogWindow): LogWindow {
  const isSame = window.isAtEnd === next.isAtEnd && JSON.stringify(factsOf(window)) === JSON.stringify(factsOf(next));
  return isSame ? window : next;
}

/** With the page that comes before it; what is far behind goes. */
export function withOlder(window: LogWindow, page: LogPage): LogWindow {
  const [first, ...rest] = window.pieces;
  if (first === undefined) return window;
  if (page.items.length === 0) return { ...window, pieces: [{ ...first, previous: page.previous }, ...rest] };
  const pieces = [pieceOf(page), ...window.pieces].slice(0, MOST_PIECES);
  return { ...window, ...factsOf(page), pieces, isAtEnd: window.isAtEnd && pieces.length > window.pieces.length };
}

export function linesOf(window: LogWindow): LogLineOut[] {
  return window.pieces.flatMap((piece) => piece.lines);
}

export function newerFrom(window: LogWindow): string | null {
  return window.pieces.at(-1)?.next ?? null;
}

export function olderFrom(window: LogWindow): string | null {
  return window.pieces[0]?.previous ?? null;
}

/** A line of several streams is named by all three. */
export function nameOf(line: Pick<LogLineOut, "rank" | "stream" | "offset">): string {
  return `${line.rank}.${line.stream}.${line.offset}`;
}

function pieceOf({ items, previous, next }: LogPage): LogPiece {
  return { lines: items, previous, next };
}

function factsOf({ problem, unread, dropped_bytes, node }: Pick<LogPage, "problem" | "unread" | "dropped_bytes" | "node">) {
  return { problem, unread, dropped_bytes, node };
}

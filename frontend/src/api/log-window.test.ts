import { describe, expect, it } from "vitest";
import { linesOf, newerFrom, olderFrom, openedAround, openedAtEnd, PAGE_LINES, withNewer, withOlder } from "./log-window";
import type { LogPage } from "./types";

/** Lines `from` to `to` of a log in which each line has one byte. */
function aPage(from: number, to: number): LogPage {
  const items = Array.from({ length: to - from }, (_, index) => ({
    key: String(from + index),
    node: "node-1",
    rank: 0,
    stream: "stdout" as const,
    offset: from + index,
    text: `line ${from + index}`,
    at: null,
    within_s: null,
  }));
  const where = { previous: from > 0 ? String(from) : null, next: String(to) };
  const of = { node: "node-1", attempt: 1, round: 1, rank: 0, stream: "stdout" as const };
  return { items, ...where, ...of, problem: null, unread: [], dropped_bytes: 0, unsearched_bytes: 0 };
}

const offsets = (window: ReturnType<typeof openedAtEnd>) => linesOf(window).map((line) => line.offset);
const count = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe("the part of a log that a page holds", () => {
  it("grows at its end as lines are written, a few at a time", () => {
    let window = openedAtEnd(aPage(100, 110));
    for (let at = 110; at < 2000; at += 3) window = withNewer(window, aPage(at, at + 3));
    expect(offsets(window)).toEqual(count(100, 2000));
    expect(window.isAtEnd).toBe(true);
    expect(window.pieces.length).toBeLessThan(6);
  });

  it("is the very same window while nothing is written", () => {
    const window = openedAtEnd(aPage(100, 110));
    expect(withNewer(window, aPage(110, 110))).toBe(window);
    expect(withNewer(window, { ...aPage(110, 110), problem: "node-1 does not answer." }).problem).toBe("node-1 does not answer.");
  });

  it("stays bounded however far one scrolls, and can go back to what it has dropped", () => {
    let window = openedAtEnd(aPage(99_500, 100_000));
    for (let at = 99_500; at > 0; at -= PAGE_LINES) window = withOlder(window, aPage(at - PAGE_LINES, at));
    expect(offsets(window)).toEqual(count(0, 6000));
    expect([olderFrom(window), newerFrom(window), window.isAtEnd]).toEqual([null, "6000", false]);
    for (let at = 6000; at < 20_000; at += PAGE_LINES) window = withNewer(window, aPage(at, at + PAGE_LINES));
    expect(offsets(window)).toEqual(count(14_000, 20_000));
    expect(olderFrom(window)).toBe("14000");
  });

  it("is at the end once nothing comes any more", () => {
    const window = openedAround(aPage(0, 10), aPage(10, 20));
    expect(offsets(window)).toEqual(count(0, 20));
    expect(window.isAtEnd).toBe(false);
    expect(withNewer(window, aPage(20, 20)).isAtEnd).toBe(true);
  });

  it("knows its beginning once nothing comes before", () => {
    const window = withOlder(openedAtEnd(aPage(5, 10)), { ...aPage(5, 5), previous: null });
    expect(olderFrom(window)).toBeNull();
    expect(offsets(window)).toEqual(count(5, 10));
  });
});

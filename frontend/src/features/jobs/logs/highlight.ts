/** Where a pattern is found in a line, for the eye: the node has found the lines by Python's rules. */

/** Null: there is nothing to mark, or the pattern is written in a way that only Python knows. */
export function patternOf(text: string, isCaseSensitive: boolean): RegExp | null {
  if (text === "") return null;
  try {
    // Python's named groups are the one thing that many patterns have and that is spelled differently.
    return new RegExp(text.replaceAll("(?P<", "(?<"), isCaseSensitive ? "g" : "gi");
  } catch {
    return null;
  }
}

const MOST_MARKS = 50;
/** A pattern may take for ever on a long line, and this is the page's own thread. */
const LONGEST = 500;

export interface Part {
  text: string;
  isHit: boolean;
}

/** The text in parts, in their order. */
export function partsOf(text: string, pattern: RegExp | null): Part[] {
  if (pattern === null || text.length > LONGEST) return [{ text, isHit: false }];
  const parts: Part[] = [];
  let from = 0;
  for (const found of firstOf(text.matchAll(pattern))) {
    if (found[0] === "") continue;
    if (found.index > from) parts.push({ text: text.slice(from, found.index), isHit: false });
    parts.push({ text: found[0], isHit: true });
    from = found.index + found[0].length;
  }
  if (from < text.length || parts.length === 0) parts.push({ text: text.slice(from), isHit: false });
  return parts;
}

function* firstOf<Item>(items: Iterable<Item>): Iterable<Item> {
  let count = 0;
  for (const item of items) {
    if (count === MOST_MARKS) return;
    count += 1;
    yield item;
  }
}

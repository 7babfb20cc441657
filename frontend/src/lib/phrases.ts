/** Small phrases that sentences are made of. */

/** "node-1", "node-1 and node-2", "node-1, node-2 and node-3". */
export function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** "node-1 is", "node-1 and node-2 are". */
export function are(words: readonly string[]): string {
  return `${listed(words)} ${words.length === 1 ? "is" : "are"}`;
}

/** A sentence as it stands behind a colon. */
export function within(sentence: string): string {
  return /^(The|It|No|A) /.test(sentence) ? sentence.slice(0, 1).toLowerCase() + sentence.slice(1) : sentence;
}

/** Arguments as one line of text: split and joined by the plain rules of a shell, with nothing expanded. */

export class ArgsError extends Error {}

/**
 * Blanks and line breaks separate. '…' keeps everything as it is. Within "…" a backslash keeps " and \ as they are;
 * outside of quotes it keeps any character. $, *, ~ and the like mean themselves.
 */
export function splitArgs(text: string): string[] {
  const args: string[] = [];
  let word: string | null = null;
  let quote: "'" | '"' | null = null;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    const next = text[i + 1];
    if (quote !== null) {
      if (char === quote) quote = null;
      else if (quote === '"' && char === "\\" && (next === '"' || next === "\\")) word = (word ?? "") + text[++i];
      else word = (word ?? "") + char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (char === "\\") {
      if (next === undefined) throw new ArgsError("The line ends with a lone backslash. Write \\\\ for a backslash.");
      word = (word ?? "") + text[++i];
    } else if (/\s/.test(char)) {
      if (word !== null) args.push(word);
      word = null;
    } else {
      word = (word ?? "") + char;
    }
  }
  if (quote !== null) throw new ArgsError(`A quote ${quote} is opened and never closed.`);
  if (word !== null) args.push(word);
  return args;
}

/** One line that `splitArgs` reads back as the same arguments. */
export function joinArgs(args: readonly string[]): string {
  return args.map(quoted).join(" ");
}

function quoted(arg: string): string {
  if (arg !== "" && /^[^\s'"\\]+$/.test(arg)) return arg;
  if (!arg.includes("'")) return `'${arg}'`;
  return `"${arg.replace(/(["\\])/g, "\\$1")}"`;
}

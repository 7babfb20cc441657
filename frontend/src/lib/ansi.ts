/** Terminal control sequences in logs: colours become looks, all others are taken out. */

export interface Look {
  /** A colour of the sixteen by its number, or any by "#rrggbb". */
  ink?: number | string;
  paper?: number | string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
  inverse?: boolean;
}

export interface Piece {
  text: string;
  look: Look;
}

// eslint-disable-next-line no-control-regex
const SEQUENCES = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;
const PLAIN: Look = {};

/** The text as a terminal would leave it standing: after a carriage return only what was written last. */
export function plainText(text: string): string {
  return piecesOf(text)
    .map((piece) => piece.text)
    .join("");
}

/** The same in pieces of one look each. */
export function piecesOf(text: string): Piece[] {
  const line = text.replace(/\r+$/, "");
  if (!line.includes("\x1b")) return piecesWithout(line);
  const pieces: Piece[] = [];
  let look = PLAIN;
  let from = 0;
  for (const found of line.matchAll(SEQUENCES)) {
    add(pieces, line.slice(from, found.index), look);
    if (found[2] === "m") look = lookAfter(look, found[1] ?? "");
    from = found.index + found[0].length;
  }
  add(pieces, line.slice(from), look);
  return pieces;
}

function piecesWithout(line: string): Piece[] {
  const pieces: Piece[] = [];
  add(pieces, line, PLAIN);
  return pieces;
}

/** What is written after a carriage return takes the place of the line so far. */
function add(pieces: Piece[], written: string, look: Look): void {
  const at = written.lastIndexOf("\r");
  if (at >= 0) pieces.length = 0;
  const text = written.slice(at + 1).replace(CONTROLS, "");
  if (text !== "") pieces.push({ text, look });
}

const ON: Record<number, Look> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
};
const OFF: Record<number, (keyof Look)[]> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
  39: ["ink"],
  49: ["paper"],
};

function lookAfter(before: Look, parameters: string): Look {
  const numbers = parameters.split(/[;:]/).map((part) => Number(part || 0));
  let look = before;
  for (let at = 0; at < numbers.length; at += 1) {
    const number = numbers[at] ?? 0;
    if (number === 38 || number === 48) {
      const { colour, taken } = colourAt(numbers, at + 1);
      if (colour !== undefined) look = { ...look, [number === 38 ? "ink" : "paper"]: colour };
      at += taken;
    } else look = lookWith(look, number);
  }
  return look;
}

function lookWith(look: Look, number: number): Look {
  if (number === 0) return PLAIN;
  if (ON[number] !== undefined) return { ...look, ...ON[number] };
  const off = OFF[number];
  if (off !== undefined) return Object.fromEntries(Object.entries(look).filter(([name]) => !off.includes(name as keyof Look)));
  if (number >= 30 && number <= 37) return { ...look, ink: number - 30 };
  if (number >= 90 && number <= 97) return { ...look, ink: number - 82 };
  if (number >= 40 && number <= 47) return { ...look, paper: number - 40 };
  if (number >= 100 && number <= 107) return { ...look, paper: number - 92 };
  return look;
}

/** After 38 or 48: "5;n" of 256 colours, or "2;r;g;b". */
function colourAt(numbers: number[], at: number): { colour: number | string | undefined; taken: number } {
  if (numbers[at] === 5) return { colour: ofPalette(numbers[at + 1] ?? 0), taken: 2 };
  if (numbers[at] !== 2) return { colour: undefined, taken: 0 };
  const [red = 0, green = 0, blue = 0] = numbers.slice(at + 1, at + 4);
  return { colour: hex(red, green, blue), taken: 4 };
}

function ofPalette(number: number): number | string {
  if (number < 16) return number;
  if (number > 231) return hex(...grey(8 + 10 * (number - 232)));
  const step = (value: number) => (value === 0 ? 0 : 55 + 40 * value);
  const place = number - 16;
  return hex(step(Math.floor(place / 36)), step(Math.floor(place / 6) % 6), step(place % 6));
}

function grey(value: number): [number, number, number] {
  return [value, value, value];
}

function hex(...parts: [number, number, number]): string {
  const two = (part: number) => Math.max(0, Math.min(255, part)).toString(16).padStart(2, "0");
  return `#${parts.map(two).join("")}`;
}

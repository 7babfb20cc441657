/** A pasted text in pieces: what was left out, what is wrong, and all between. */
import type { RemarkOut } from "@/api";

export type Mark = "problem" | "stripped" | null;

export interface Piece {
  text: string;
  mark: Mark;
}

/** Places are counted in whole characters, as the hub counts them; where marks overlap, a problem wins. */
export function piecesOf(command: string, problems: readonly RemarkOut[], stripped: readonly RemarkOut[]): Piece[] {
  const chars = [...command];
  const marks: Mark[] = chars.map(() => null);
  for (const [remarks, mark] of [[stripped, "stripped"], [problems, "problem"]] as const) {
    for (const { position, length } of remarks) marks.fill(mark, position, position + length);
  }
  const pieces: Piece[] = [];
  chars.forEach((char, i) => {
    const mark = marks[i] ?? null;
    const last = pieces.at(-1);
    if (last?.mark === mark) last.text += char;
    else pieces.push({ text: char, mark });
  });
  return pieces;
}

/** The page's own colours as a canvas needs them: read once for each theme, not for each bar. */
import type { Tone } from "@/lib/states";
import { LOOKS } from "./looks";

type Ink = "ink" | "ink-2" | "ink-3" | "paper" | "line" | "accent" | "accent-band" | "band" | "grey-pale";

export interface BarPaint {
  fill: string | CanvasPattern;
  /** Of the line below a pale bar. */
  edge: string | null;
  /** Of a word in it. */
  ink: string;
}

export interface Palette {
  ratio: number;
  font: string;
  ink: Record<Ink, string>;
  tone: Record<Tone | "ink", string>;
  /** By the number of a look. */
  bars: readonly BarPaint[];
}

const INKS: readonly Ink[] = ["ink", "ink-2", "ink-3", "paper", "line", "accent", "accent-band", "band", "grey-pale"];
const TONES: readonly Tone[] = ["grey", "violet", "blue", "green", "amber", "orange", "red"];

export function readPalette(canvas: HTMLCanvasElement, ratio: number): Palette {
  const style = getComputedStyle(canvas);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const named = <Name extends string>(names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, colour(name)])) as Record<Name, string>;
  const ink = named(INKS);
  const bars = LOOKS.map(({ tone, fill }): BarPaint => {
    if (fill === "solid") return { fill: colour(tone), edge: null, ink: ink.paper };
    if (fill === "pale") return { fill: colour(`${tone}-pale`), edge: colour(tone), ink: ink.ink };
    return { fill: stripes(colour(tone), ratio) ?? colour(`${tone}-pale`), edge: colour(tone), ink: ink.ink };
  });
  return { ratio, font: `12px ${style.fontFamily}`, ink, tone: named([...TONES, "ink"]), bars };
}

const TILE_PX = 6;

/** Thin lines from bottom left to top right, as crisp as the screen. */
function stripes(colour: string, ratio: number): CanvasPattern | null {
  const side = Math.round(TILE_PX * ratio);
  const tile = document.createElement("canvas");
  tile.width = tile.height = side;
  const pen = tile.getContext("2d");
  if (pen === null) return null;
  pen.strokeStyle = colour;
  pen.lineWidth = ratio;
  for (const shift of [-side, 0, side]) {
    pen.moveTo(shift, side);
    pen.lineTo(shift + side, 0);
  }
  pen.stroke();
  const pattern = pen.createPattern(tile, "repeat");
  pattern?.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}

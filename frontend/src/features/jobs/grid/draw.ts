/** Draws the part of the grid that is in sight. */
import type { Tone } from "@/lib/states";
import type { Cell } from "./cells";
import { CELL_PX, NAME_PX, PITCH_PX, type Layout } from "./layout";

export interface Scene {
  layout: Layout;
  cells: readonly Cell[];
  selected: number | null;
  picked: ReadonlySet<number>;
  /** Place of the cell that has the focus or the pointer; -1: none. */
  cursor: number;
}

export interface Sight {
  width: number;
  height: number;
  scrolled: number;
  ratio: number;
}

export type Colour = (name: string) => string;

/** Reads each colour once: a canvas knows nothing of the page's variables. */
export function coloursOf(element: HTMLElement): Colour {
  const style = getComputedStyle(element);
  const read = new Map<string, string>();
  return (name) => {
    const held = read.get(name);
    if (held !== undefined) return held;
    const value = name === "font" ? style.fontFamily : style.getPropertyValue(`--${name}`).trim();
    read.set(name, value);
    return value;
  };
}

export function draw(canvas: HTMLCanvasElement, scene: Scene, sight: Sight, colour: Colour): void {
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  fit(canvas, sight);
  pen.setTransform(sight.ratio, 0, 0, sight.ratio, 0, 0);
  pen.clearRect(0, 0, sight.width, sight.height);
  pen.translate(0, -sight.scrolled);
  pen.textBaseline = "middle";
  for (const group of scene.layout.groups) {
    const bottom = (scene.layout.y[group.to - 1] ?? group.y) + PITCH_PX;
    if (bottom < sight.scrolled || group.y > sight.scrolled + sight.height) continue;
    drawName(pen, group.node, group.x, group.y, scene.layout.groupPx, colour);
    for (let place = group.from; place < group.to; place += 1) drawCell(pen, scene, place, colour);
  }
}

/** A canvas that is given its size anew is emptied and costs time, so only when it has changed. */
function fit(canvas: HTMLCanvasElement, { width, height, ratio }: Omit<Sight, "scrolled">): void {
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
}

const CHARACTER_PX = 6.7;

/** The end of a name tells nodes apart, so a long one is cut before it. */
function drawName(pen: CanvasRenderingContext2D, name: string, x: number, y: number, width: number, colour: Colour): void {
  const most = Math.floor(width / CHARACTER_PX);
  pen.font = `11px ${colour("font")}`;
  pen.textAlign = "left";
  pen.fillStyle = colour("ink-2");
  pen.fillText(name.length <= most ? name : `…${name.slice(1 - most)}`, x, y + NAME_PX / 2, width);
}

function drawCell(pen: CanvasRenderingContext2D, scene: Scene, place: number, colour: Colour): void {
  const cell = scene.cells[scene.layout.order[place] as number];
  if (cell === undefined) return;
  const [x, y] = [scene.layout.x[place] as number, scene.layout.y[place] as number];
  drawFace(pen, cell, x, y, colour);
  const { rank } = cell.worker;
  if (scene.picked.has(rank)) drawPicked(pen, x, y, colour);
  if (scene.selected === rank) outline(pen, x, y, colour("accent"), 2);
  if (scene.cursor === place) outline(pen, x, y, colour("ink"), 1);
}

function drawFace(pen: CanvasRenderingContext2D, { state, level }: Pick<Cell, "state" | "level">, x: number, y: number, colour: Colour): void {
  if (state !== undefined) return drawState(pen, state, x, y, colour);
  pen.strokeStyle = colour("edge");
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, CELL_PX - 1, CELL_PX - 1);
  if (level === null) return write(pen, "–", x, y, colour("ink-2"), colour);
  const high = Math.round(((CELL_PX - 2) * level) / 4);
  pen.fillStyle = colour("ink-2");
  pen.fillRect(x + 1, y + CELL_PX - 1 - high, CELL_PX - 2, high);
}

/** One cell by itself, for the legend. */
export function drawSample(canvas: HTMLCanvasElement, cell: Pick<Cell, "state" | "level">, ratio: number, colour: Colour): void {
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  fit(canvas, { width: CELL_PX, height: CELL_PX, ratio });
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, CELL_PX, CELL_PX);
  pen.textBaseline = "middle";
  drawFace(pen, cell, 0, 0, colour);
}

function drawState(
  pen: CanvasRenderingContext2D,
  { letter, tone, striped }: { letter: string; tone: Tone; striped: boolean },
  x: number,
  y: number,
  colour: Colour,
): void {
  pen.fillStyle = colour(striped ? `${tone}-pale` : tone);
  pen.fillRect(x, y, CELL_PX, CELL_PX);
  if (letter !== "") write(pen, letter, x, y, colour(striped ? "ink" : "paper"), colour);
}

function write(pen: CanvasRenderingContext2D, letter: string, x: number, y: number, ink: string, colour: Colour): void {
  pen.font = `700 11px ${colour("font")}`;
  pen.textAlign = "center";
  pen.fillStyle = ink;
  pen.fillText(letter, x + CELL_PX / 2, y + CELL_PX / 2 + 1);
}

/** A corner that is cut off, in ink: it is seen on each tone and on an empty cell. */
function drawPicked(pen: CanvasRenderingContext2D, x: number, y: number, colour: Colour): void {
  drawCorner(pen, x, y, 9, colour("paper"));
  drawCorner(pen, x, y, 6, colour("ink"));
}

function drawCorner(pen: CanvasRenderingContext2D, x: number, y: number, side: number, ink: string): void {
  pen.fillStyle = ink;
  pen.beginPath();
  pen.moveTo(x + CELL_PX - side, y);
  pen.lineTo(x + CELL_PX, y);
  pen.lineTo(x + CELL_PX, y + side);
  pen.fill();
}

function outline(pen: CanvasRenderingContext2D, x: number, y: number, ink: string, width: number): void {
  pen.strokeStyle = ink;
  pen.lineWidth = width;
  const out = width / 2;
  pen.strokeRect(x - out, y - out, CELL_PX + 2 * out, CELL_PX + 2 * out);
}

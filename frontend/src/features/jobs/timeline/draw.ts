/** Draws the timeline on a canvas: only what is in view. It decides nothing, and reads no style. */
import { eachBar } from "./bars";
import { LOOKS } from "./looks";
import { MARKS, placed, type Placed } from "./marks";
import type { BarPaint, Palette } from "./palette";
import { rowsBetween, rowsOfMark, type Picture, type Row } from "./picture";
import * as scale from "./scale";

export interface Scene {
  picture: Picture;
  view: scale.View;
  /** Where what is not over yet ends. */
  now: number;
  /** Index of the selected round; undefined: none is. */
  selected: number | undefined;
  rank: number | undefined;
  /** How far the lanes are scrolled, and how much of them is seen. */
  scrolled: number;
  lanesPx: number;
}

interface Brush extends Scene {
  pen: CanvasRenderingContext2D;
  palette: Palette;
  height: number;
}

export function draw(pen: CanvasRenderingContext2D, palette: Palette, scene: Scene): void {
  const { view, lanesPx } = scene;
  const height = scale.HEAD_PX + lanesPx;
  const brush: Brush = { ...scene, pen, palette, height };
  pen.setTransform(palette.ratio, 0, 0, palette.ratio, 0, 0);
  pen.clearRect(0, 0, view.width, height + 8);
  pen.font = palette.font;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  const room = [scale.LABELS_PX, view.width - scale.LABELS_PX] as const;
  clipped(pen, room[0], 0, room[1], height, () => drawSelection(brush));
  drawAxis(brush);
  clipped(pen, room[0], 0, room[1], height, () => {
    drawWorld(brush);
    clipped(pen, room[0], scale.HEAD_PX, room[1], lanesPx, () => drawLanes(brush));
    drawRounds(brush);
    const marks = placedIn(brush);
    drawMarksOfJob(brush, marks);
    clipped(pen, room[0], scale.HEAD_PX, room[1], lanesPx, () => drawMarksOfLanes(brush, marks));
  });
}

function clipped(pen: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, act: () => void): void {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  act();
  pen.restore();
}

function drawSelection({ pen, palette, view, picture, selected, now, height }: Brush): void {
  if (selected === undefined) return;
  const left = scale.xOf(view, picture.formed[selected] ?? now);
  const right = scale.xOf(view, picture.formed[selected + 1] ?? now);
  pen.fillStyle = palette.ink["accent-band"];
  pen.fillRect(left, 0, Math.max(1, right - left), height);
}

function drawAxis({ pen, palette, view, height }: Brush): void {
  for (const { at, label } of scale.ticksOf(view)) {
    const x = Math.round(scale.xOf(view, at)) + 0.5;
    pen.fillStyle = palette.ink.line;
    pen.fillRect(x, 0, 1, height);
    if (x + pen.measureText(label).width + 4 > view.width) continue;
    pen.fillStyle = palette.ink["ink-2"];
    pen.fillText(label, x + 4, scale.AXIS_PX / 2);
  }
}

function drawWorld({ pen, palette, view, picture, now }: Brush): void {
  const bottom = scale.HEAD_PX - 6;
  const room = scale.WORLD_PX - 14;
  for (const level of picture.levels) {
    const left = scale.xOf(view, level.from);
    const right = Math.max(left + 1, scale.xOf(view, Math.min(level.to, now)));
    if (right < scale.LABELS_PX || left > view.width) continue;
    const top = bottom - (level.size / picture.most) * room;
    pen.fillStyle = palette.ink["grey-pale"];
    pen.fillRect(left, top, right - left, bottom - top);
    pen.fillStyle = palette.ink["ink-2"];
    pen.fillRect(left, top, right - left, 1.5);
    const from = Math.max(left, scale.LABELS_PX);
    if (right - from < 24) continue;
    pen.fillStyle = palette.ink.ink;
    pen.fillText(String(level.size), from + 4, (top + bottom) / 2 + 1);
  }
}

function drawLanes(brush: Brush): void {
  const { picture, scrolled, lanesPx } = brush;
  const [first, end] = rowsBetween(picture.rows, scrolled, scrolled + lanesPx);
  for (const row of picture.rows.slice(first, end)) drawLane(brush, row);
}

function drawLane({ pen, palette, view, now, rank, scrolled }: Brush, row: Row): void {
  const lane = scale.HEAD_PX + row.top - scrolled;
  const gap = row.rank === null ? 4 : 2;
  const [top, height] = [lane + gap, row.height - 2 * gap];
  if (row.rank !== null && row.rank === rank) {
    pen.fillStyle = palette.ink["accent-band"];
    pen.fillRect(scale.LABELS_PX, lane, view.width, row.height);
  }
  eachBar(row.bars(), view, now, (left, right, look) => {
    const paint = palette.bars[look] as BarPaint;
    pen.fillStyle = paint.fill;
    pen.fillRect(left, top, right - left, height);
    if (paint.edge !== null) {
      pen.fillStyle = paint.edge;
      pen.fillRect(left, top + height - 2, right - left, 2);
    }
    if (right - left > WORD_FROM_PX) drawWord(pen, palette, look, left, right, view.width, top + height / 2);
  });
}

const WORD_FROM_PX = 48;
const MARK_PX = 10;

/** How the worker ended, at the end of its bar, on a plate where stripes would be in the way. */
function drawWord(pen: CanvasRenderingContext2D, palette: Palette, look: number, left: number, right: number, most: number, y: number): void {
  const { word, fill } = LOOKS[look] as (typeof LOOKS)[number];
  if (word === "" || word === "running") return;
  const width = pen.measureText(word).width;
  // A mark may stand at the end of the bar.
  const x = Math.min(right, most) - width - MARK_PX;
  if (x < Math.max(left, scale.LABELS_PX) + 4) return;
  if (fill === "striped") {
    pen.fillStyle = palette.ink.paper;
    pen.fillRect(x - 3, y - 7, width + 6, 14);
  }
  pen.fillStyle = (palette.bars[look] as BarPaint).ink;
  pen.fillText(word, x, y + 0.5);
}

function drawRounds({ pen, palette, view, picture, height }: Brush): void {
  let free = -Infinity;
  const first = Math.max(0, scale.firstAbove(picture.formed, view.from) - 1);
  for (let index = first; index < picture.formed.length; index += 1) {
    const x = Math.round(scale.xOf(view, picture.formed[index] as number));
    if (x > view.width) break;
    pen.fillStyle = palette.ink["ink-3"];
    pen.fillRect(x, scale.AXIS_PX, 1, height - scale.AXIS_PX);
    if (x + 4 < free) continue;
    const text = String(picture.rounds[index]?.number);
    pen.fillStyle = palette.ink.ink;
    pen.fillText(text, x + 4, scale.AXIS_PX + scale.ROUNDS_PX / 2);
    free = x + pen.measureText(text).width + 12;
  }
}

/** Those around the view too: one that is moved aside may come from outside of it. */
const AROUND_PX = 64;

function placedIn({ picture, view }: Scene): Placed[] {
  const pxPerMs = scale.roomOf(view.width) / (view.to - view.from);
  const first = scale.firstAbove(picture.marked, view.from - AROUND_PX / pxPerMs);
  const end = scale.firstAbove(picture.marked, view.to + AROUND_PX / pxPerMs);
  return placed(picture.marks.slice(first, end), (at) => scale.xOf(view, at), pxPerMs);
}

function drawMarksOfJob(brush: Brush, marks: readonly Placed[]): void {
  for (const { mark, x } of marks) {
    if (mark.node === null || !brush.picture.rowOf.has(mark.node)) drawMark(brush, MARKS[mark.kind], x, scale.HEAD_PX - scale.WORLD_PX / 2);
  }
}

function drawMarksOfLanes(brush: Brush, marks: readonly Placed[]): void {
  for (const { mark, x } of marks) {
    for (const row of rowsOfMark(brush.picture, mark)) {
      const y = scale.HEAD_PX + row.top - brush.scrolled + row.height / 2;
      if (y > 0 && y < brush.height + row.height) drawMark(brush, MARKS[mark.kind], x, y);
    }
  }
}

const PATHS = new Map<string, Path2D>();

function pathOf(path: string): Path2D {
  const held = PATHS.get(path) ?? new Path2D(path);
  PATHS.set(path, held);
  return held;
}

function drawMark({ pen, palette }: Brush, look: (typeof MARKS)[keyof typeof MARKS], x: number, y: number): void {
  const path = pathOf(look.path);
  pen.save();
  pen.translate(x, y);
  pen.lineJoin = "round";
  pen.strokeStyle = palette.ink.paper;
  pen.lineWidth = 5;
  pen.stroke(path);
  pen.strokeStyle = palette.tone[look.tone];
  pen.fillStyle = pen.strokeStyle;
  pen.lineWidth = look.tone === "red" ? 2.5 : 1.5;
  pen.stroke(path);
  if (look.filled) pen.fill(path);
  pen.restore();
}

/** Draws the timeline on a canvas. All colours come from the page's own variables. */
import type { MarkOut, RoundOut, TimelineOut } from "@/api";
import { formatClock } from "@/lib/format";
import { PHASES } from "@/lib/states";
import { MARKS, outline, placed } from "./marks";
import * as scale from "./scale";

export interface Scene {
  timeline: TimelineOut;
  view: scale.View;
  /** Where what is not over yet ends: now. */
  end: number;
  selected: RoundOut | undefined;
}

export function draw(canvas: HTMLCanvasElement, scene: Scene): void {
  const height = scale.heightOf(scene.timeline);
  const ratio = window.devicePixelRatio || 1;
  canvas.width = scene.view.width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  const style = getComputedStyle(canvas);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  pen.scale(ratio, ratio);
  pen.font = `12px ${style.fontFamily}`;
  pen.textBaseline = "middle";
  const brush: Brush = { pen, colour, ...scene };
  drawSelection(brush, height);
  drawAxis(brush, height);
  drawLabels(brush);
  pen.save();
  pen.beginPath();
  pen.rect(scale.LABELS_PX, 0, scene.view.width - scale.LABELS_PX, height);
  pen.clip();
  drawWorld(brush);
  drawLanes(brush);
  drawRounds(brush, height);
  drawMarks(brush);
  pen.restore();
}

interface Brush extends Scene {
  pen: CanvasRenderingContext2D;
  colour: (name: string) => string;
}

function drawSelection({ pen, colour, view, timeline, selected, end }: Brush, height: number): void {
  if (selected === undefined) return;
  const next = timeline.rounds[timeline.rounds.indexOf(selected) + 1];
  const left = Math.max(scale.LABELS_PX, scale.xOf(view, Date.parse(selected.formed_at)));
  const right = scale.xOf(view, next === undefined ? end : Date.parse(next.formed_at));
  pen.fillStyle = colour("--accent-band");
  pen.fillRect(left, 0, Math.max(0, right - left), height);
}

function drawAxis({ pen, colour, view }: Brush, height: number): void {
  pen.textAlign = "left";
  for (const at of scale.ticksOf(view)) {
    const x = Math.round(scale.xOf(view, at)) + 0.5;
    pen.fillStyle = colour("--line");
    pen.fillRect(x, 0, 1, height);
    if (x + 56 > view.width) continue;
    pen.fillStyle = colour("--ink-2");
    pen.fillText(formatClock(at), x + 4, scale.AXIS_PX / 2);
  }
}

function drawLabels({ pen, colour, timeline }: Brush): void {
  pen.textAlign = "left";
  pen.fillStyle = colour("--ink-2");
  pen.fillText("world size", 0, scale.laneTop(0) - scale.WORLD_PX / 2);
  pen.fillStyle = colour("--ink");
  timeline.lanes.forEach((lane, index) => {
    pen.fillText(fitted(pen, lane.node, scale.LABELS_PX - 8), 0, scale.laneTop(index) + scale.LANE_PX / 2);
  });
}

function fitted(pen: CanvasRenderingContext2D, text: string, room: number): string {
  if (pen.measureText(text).width <= room) return text;
  let kept = text.length;
  while (kept > 1 && pen.measureText(`…${text.slice(-kept)}`).width > room) kept -= 1;
  return `…${text.slice(-kept)}`;
}

function drawWorld({ pen, colour, view, timeline, end }: Brush): void {
  const levels = scale.levelsOf(timeline, end);
  const most = Math.max(1, ...levels.map((level) => level.size));
  const bottom = scale.laneTop(0) - 6;
  const room = scale.WORLD_PX - 14;
  for (const level of levels) {
    const left = scale.xOf(view, level.from);
    const right = Math.max(left + 1, scale.xOf(view, level.to));
    if (right < scale.LABELS_PX || left > view.width) continue;
    const top = bottom - (level.size / most) * room;
    pen.fillStyle = colour("--grey-pale");
    pen.fillRect(left, top, right - left, bottom - top);
    pen.fillStyle = colour("--ink-2");
    pen.fillRect(left, top, right - left, 1.5);
    if (right - left < 24) continue;
    pen.fillStyle = colour("--ink");
    pen.fillText(String(level.size), Math.max(left, scale.LABELS_PX) + 4, (top + bottom) / 2 + 1);
  }
}

function drawLanes({ pen, colour, view, timeline, end }: Brush): void {
  timeline.lanes.forEach((lane, index) => {
    const top = scale.laneTop(index) + 4;
    for (const span of lane.spans) {
      const look = PHASES[span.phase];
      const left = scale.xOf(view, Date.parse(span.began_at));
      const right = scale.xOf(view, span.ended_at === null ? end : Date.parse(span.ended_at));
      if (right < scale.LABELS_PX || left > view.width) continue;
      const isSolid = look.fill === "solid";
      pen.fillStyle = colour(isSolid ? `--${look.tone}` : `--${look.tone}-pale`);
      pen.fillRect(left, top, Math.max(2, right - left), scale.LANE_PX - 8);
    }
  });
}

function drawRounds({ pen, colour, view, timeline }: Brush, height: number): void {
  let free = -Infinity;
  for (const round of timeline.rounds) {
    const x = Math.round(scale.xOf(view, Date.parse(round.formed_at)));
    pen.fillStyle = colour("--ink-3");
    pen.fillRect(x, scale.AXIS_PX, 1, height - scale.AXIS_PX);
    const text = `${round.number}`;
    const width = pen.measureText(text).width;
    if (x + 4 < free) continue;
    pen.fillStyle = colour("--ink");
    pen.fillText(text, x + 4, scale.AXIS_PX + scale.ROUNDS_PX / 2);
    free = x + width + 12;
  }
}

function drawMarks({ pen, colour, view, timeline }: Brush): void {
  for (const { mark, x } of placed(timeline.marks, (each) => scale.xOf(view, Date.parse(each.at)))) {
    const { y } = placeOf(mark, timeline, view);
    if (x < scale.LABELS_PX || x > view.width) continue;
    pen.save();
    pen.translate(x, y);
    pen.lineJoin = "round";
    const path = outline(mark.kind);
    pen.strokeStyle = colour("--paper");
    pen.lineWidth = mark.kind === "checkpoint" ? 4 : 5;
    pen.stroke(path);
    pen.strokeStyle = colour(MARKS[mark.kind].tone);
    pen.fillStyle = pen.strokeStyle;
    pen.lineWidth = mark.kind === "failure" ? 2.5 : 1.5;
    pen.stroke(path);
    if (mark.kind === "kill" || mark.kind === "ended") pen.fill(path);
    pen.restore();
  }
}

/** The middle of a mark: on its node's lane, or on the world line. */
export function placeOf(mark: MarkOut, timeline: TimelineOut, view: scale.View): { x: number; y: number } {
  const lane = timeline.lanes.findIndex((each) => each.node === mark.node);
  const y = lane < 0 ? scale.laneTop(0) - scale.WORLD_PX / 2 : scale.laneTop(lane) + scale.LANE_PX / 2;
  return { x: scale.xOf(view, Date.parse(mark.at)), y };
}

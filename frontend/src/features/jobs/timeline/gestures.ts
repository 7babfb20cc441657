/** Wheel, pointer and touch on the picture, as moves of the stage. */
import { LABELS_PX } from "./scale";
import type { Point, Stage } from "./stage";

/** A click that moves less is a click. */
const SLACK_PX = 4;
/** How much nearer one notch of a wheel goes: half of it again, at most. */
const WHEEL_MOST = 40;
const WHEEL_RATE = 0.01;
const LINE_PX = 16;

/** `pick` is called for a click on the picture. Ends with the answer. */
export function listenTo(box: HTMLElement, stage: Stage, pick: (at: Point) => void): () => void {
  const ends = [listenToWheel(box, stage), listenToPointers(box, stage, pick)];
  return () => ends.forEach((end) => end());
}

function pointIn(box: HTMLElement, event: MouseEvent): Point {
  const place = box.getBoundingClientRect();
  return { x: event.clientX - place.left, y: event.clientY - place.top };
}

function listenToWheel(box: HTMLElement, stage: Stage): () => void {
  const turn = (event: WheelEvent) => {
    const px = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    const [across, along] = [event.deltaX * px, event.deltaY * px];
    // A pinch on a touchpad comes as a wheel with Ctrl.
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const turned = Math.max(-WHEEL_MOST, Math.min(WHEEL_MOST, along));
      stage.zoom(Math.exp(-turned * WHEEL_RATE), pointIn(box, event).x);
    } else if (event.shiftKey || Math.abs(across) > Math.abs(along)) {
      event.preventDefault();
      stage.pan(across || along);
    }
  };
  // Not passive: the page must not zoom or go back in its history meanwhile.
  box.addEventListener("wheel", turn, { passive: false });
  return () => box.removeEventListener("wheel", turn);
}

function listenToPointers(box: HTMLElement, stage: Stage, pick: (at: Point) => void): () => void {
  const held = new Map<number, Point>();
  let travelled = 0;
  const isOnLabel = (event: Event) => event.target instanceof Element && event.target.closest("button") !== null;

  const down = (event: PointerEvent) => {
    if (event.button !== 0 || isOnLabel(event)) return;
    if (held.size === 0) travelled = 0;
    held.set(event.pointerId, pointIn(box, event));
  };
  const move = (event: PointerEvent) => {
    const at = pointIn(box, event);
    const before = held.get(event.pointerId);
    if (before === undefined) return stage.point(event.pointerType === "mouse" && !isOnLabel(event) ? at : null);
    const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
    travelled += Math.abs(at.x - before.x) + (other === undefined ? 0 : SLACK_PX);
    if (other === undefined && travelled <= SLACK_PX) return;
    held.set(event.pointerId, at);
    stage.point(null);
    if (!box.hasPointerCapture(event.pointerId)) box.setPointerCapture(event.pointerId);
    if (other === undefined) stage.pan(before.x - at.x);
    else pinch(stage, other, before, at);
  };
  const up = (event: PointerEvent) => held.delete(event.pointerId);
  const leave = () => stage.point(null);
  const click = (event: MouseEvent) => {
    const at = pointIn(box, event);
    if (travelled <= SLACK_PX && at.x > LABELS_PX && !isOnLabel(event)) pick(at);
  };
  const twice = (event: MouseEvent) => {
    const at = pointIn(box, event);
    if (at.x > LABELS_PX && !isOnLabel(event)) stage.zoom(2, at.x);
  };
  const end = new AbortController();
  const { signal } = end;
  box.addEventListener("pointerdown", down, { signal });
  box.addEventListener("pointermove", move, { signal });
  box.addEventListener("pointerup", up, { signal });
  // The browser has taken a touch over to scroll the page.
  box.addEventListener("pointercancel", up, { signal });
  box.addEventListener("pointerleave", leave, { signal });
  box.addEventListener("click", click, { signal });
  box.addEventListener("dblclick", twice, { signal });
  return () => end.abort();
}

/** Two fingers: what lies between them stays between them. */
function pinch(stage: Stage, other: Point, before: Point, at: Point): void {
  const apart = (one: Point) => Math.max(8, Math.hypot(one.x - other.x, one.y - other.y));
  stage.zoom(apart(at) / apart(before), (other.x + at.x) / 2);
  stage.pan((before.x - at.x) / 2);
}

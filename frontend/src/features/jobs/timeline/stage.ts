/**
 * What the picture shows at this moment, and when it is drawn: at most once for each frame of the screen, only while it
 * is in sight, and of itself only when time has come a pixel further.
 * React is told only when a move has come to rest, so that moving renders nothing anew.
 */
import { serverNow, untilWhole } from "@/lib/clock";
import { draw } from "./draw";
import { readPalette, type Palette } from "./palette";
import type { Picture } from "./picture";
import { atX, HEAD_PX, LABELS_PX, LANES_MOST_PX, roomOf, type View } from "./scale";
import { isFollowing, moved, pixelMs, showing, stretchOf, zoomed, type Bounds, type Shown, type Stretch } from "./view";

export interface Point {
  x: number;
  y: number;
}

export interface Shows {
  picture: Picture;
  /** When what is shown ended; null: it goes on. */
  end: number | null;
  width: number;
  selected: number | undefined;
  rank: number | undefined;
}

const REST_MS = 200;
/** It is ready before it is scrolled into sight. */
const NEAR_PX = 200;

export class Stage {
  private shows: Shows | null = null;
  private shown: Shown = { range: "10m" };
  private canvas: HTMLCanvasElement | null = null;
  private palette: Palette | null = null;
  private frame = 0;
  /** The last stretch that was told: the address says it back while the next move is on its way. */
  private told: Stretch | null = null;
  private resting: ReturnType<typeof setTimeout> | undefined;
  private waiting: ReturnType<typeof setTimeout> | undefined;
  private isSeen = true;
  private scrolled = 0;
  private pointer: Point | null = null;
  private readonly pointed = new Set<() => void>();
  private beside: ((view: View, palette: Palette) => unknown) | null = null;
  /** Called when a move has come to rest. */
  onRest: (shown: Shown) => void = () => undefined;

  /** Draws on that canvas until the answer is called. */
  readonly attach = (canvas: HTMLCanvasElement): (() => void) => {
    this.canvas = canvas;
    // The lanes beside it are new too, and not scrolled yet.
    this.scrolled = 0;
    this.repaint();
    const sight = new IntersectionObserver(([entry]) => this.see(entry?.isIntersecting ?? true), { rootMargin: `${NEAR_PX}px` });
    sight.observe(canvas);
    return () => {
      sight.disconnect();
      cancelAnimationFrame(this.frame);
      clearTimeout(this.resting);
      clearTimeout(this.waiting);
      this.isSeen = true;
      this.frame = 0;
      this.canvas = null;
      this.point(null);
    };
  };

  /** What else is drawn with each frame, in the same time axis, until the answer is called. */
  drawBeside(draw: (view: View, palette: Palette) => unknown): () => void {
    this.beside = draw;
    this.request();
    return () => {
      if (this.beside === draw) this.beside = null;
    };
  }

  set(shows: Shows): void {
    this.shows = shows;
    this.request();
  }

  /** What the address says; a move that is not at rest yet is given up. What it was told from here changes nothing. */
  show(shown: Shown): void {
    if (this.told !== null && !isFollowing(shown) && shown.from === this.told.from && shown.to === this.told.to) return;
    clearTimeout(this.resting);
    this.told = null;
    this.shown = shown;
    this.request();
  }

  scroll(top: number): void {
    this.scrolled = top;
    this.request();
  }

  /** The theme has changed: its colours are read again. */
  repaint(): void {
    this.palette = null;
    this.request();
  }

  get view(): View {
    return { ...stretchOf(this.shown, this.bounds), width: this.shows?.width ?? 0 };
  }

  get now(): number {
    return this.shows === null ? 0 : (this.shows.end ?? serverNow());
  }

  get scrolledBy(): number {
    return this.scrolled;
  }

  /** `factor` times as near, around what lies at `x`, or around the middle. */
  zoom(factor: number, x?: number): void {
    const view = this.view;
    const at = x === undefined ? (view.from + view.to) / 2 : atX(view, Math.max(LABELS_PX, x));
    this.move(zoomed(view, factor, at, this.bounds));
  }

  /** Later by that many pixels. */
  pan(px: number): void {
    const view = this.view;
    this.move(moved(view, (px / roomOf(view.width)) * (view.to - view.from), this.bounds));
  }

  /** Later by that share of what is shown. */
  panBy(share: number): void {
    this.pan(share * roomOf(this.view.width));
  }

  /** Moves only when that moment is out of sight. */
  reveal(at: number): void {
    const view = this.view;
    const wanted = showing(view, at, this.bounds);
    if (wanted !== view) this.move(wanted);
  }

  readonly onPoint = (listener: () => void): (() => void) => {
    this.pointed.add(listener);
    return () => this.pointed.delete(listener);
  };

  readonly pointsAt = (): Point | null => this.pointer;

  point(pointer: Point | null): void {
    if (this.pointer === pointer) return;
    this.pointer = pointer;
    for (const tell of this.pointed) tell();
  }

  private get bounds(): Bounds {
    return { began: this.shows?.picture.began ?? 0, now: this.now };
  }

  private move({ from, to }: Stretch): void {
    if (this.shows === null) return;
    const before = this.view;
    if (from === before.from && to === before.to) return;
    const wasFollowing = isFollowing(this.shown);
    this.shown = { from, to };
    this.request();
    clearTimeout(this.resting);
    // That it no longer follows is said at once.
    this.resting = setTimeout(this.tell, wasFollowing ? 0 : REST_MS);
  }

  private readonly tell = () => {
    const { from, to } = this.view;
    this.told = { from: Math.floor(from), to: Math.ceil(to) };
    this.onRest(this.told);
  };

  private request(): void {
    if (this.frame !== 0 || this.canvas === null || !this.isSeen) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.drawNow();
      this.waitForTime();
    });
  }

  private see(isSeen: boolean): void {
    if (this.isSeen === isSeen) return;
    this.isSeen = isSeen;
    this.request();
  }

  private waitForTime(): void {
    clearTimeout(this.waiting);
    if (this.shows === null || this.shows.end !== null) return;
    // Read first: a view that follows ends no earlier.
    const now = this.now;
    const ms = pixelMs(this.view, roomOf(this.shows.width), now);
    if (ms === null) return;
    this.waiting = setTimeout(() => {
      this.request();
      // What lies under it has moved.
      if (this.pointer !== null) this.point({ ...this.pointer });
    }, untilWhole(ms, Date.now()));
  }

  /** Also for a benchmark, which measures how long it takes. */
  drawNow(): void {
    const { canvas, shows } = this;
    if (canvas === null || shows === null || shows.width === 0) return;
    const lanesPx = lanesPxOf(shows.picture);
    const pen = this.fitted(canvas, shows.width, HEAD_PX + lanesPx);
    if (pen === null) return;
    this.palette ??= readPalette(canvas, window.devicePixelRatio || 1);
    const { picture, selected, rank } = shows;
    draw(pen, this.palette, { picture, view: this.view, now: this.now, selected, rank, scrolled: this.scrolled, lanesPx });
    this.beside?.(this.view, this.palette);
  }

  /** As many pixels as the screen has there; a canvas is costly to resize, so only when it must be. */
  private fitted(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
    const ratio = window.devicePixelRatio || 1;
    if (this.palette?.ratio !== ratio) this.palette = null;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide) canvas.width = wide;
    if (canvas.height !== high) canvas.height = high;
    return canvas.getContext("2d");
  }
}

export function lanesPxOf(picture: Picture): number {
  return Math.min(LANES_MOST_PX, picture.height);
}

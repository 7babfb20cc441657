import { useCallbackRef, useElementSize, useMergedRef } from "@mantine/hooks";
import { useCallback, useEffect, useMemo, useRef, type FocusEvent, type KeyboardEvent, type PointerEvent, type RefObject } from "react";
import { plural } from "@/lib/format";
import type { Cell } from "./cells";
import { coloursOf, draw, type Colour, type Sight } from "./draw";
import { layoutOf, NAME_PX, PITCH_PX, placeAfter, placeAt, type Layout } from "./layout";
import classes from "./grid.module.css";

/** What led to a cell: what keys do is said aloud, and what the pointer does is not. */
export type Means = "key" | "pointer";

interface Props {
  cells: readonly Cell[];
  selected: number | null;
  picked: ReadonlySet<number>;
  /** The rank whose cell is told; null: none is. */
  at: number | null;
  /** Changes when colours do. */
  look: string;
  onAt: (cell: Cell | undefined, by: Means) => void;
  onSelect: (cell: Cell) => void;
  onPick: (cell: Cell) => void;
}

const KEYS =
  "Arrow keys move, Home and End lead to the first and the last, Enter selects, Space picks. " +
  "The same workers are there as rows.";

/** The picture of the grid, and what keys and pointer do to it. */
export function GridCanvas({ cells, selected, picked, at, look, onAt, onSelect, onPick }: Props) {
  const { ref: sized, width, height } = useElementSize<HTMLDivElement>();
  const box = useRef<HTMLDivElement>(null);
  const boxRef = useMergedRef(sized, box);
  const canvas = useRef<HTMLCanvasElement>(null);
  const layout = useMemo(() => layoutOf(cells.map(({ worker }) => worker), width), [cells, width]);
  const cursor = placeOf(layout, cells, at);
  const cellAt = (place: number) => cells[layout.order[place] ?? -1];
  const under = (event: { clientX: number; clientY: number }) => cellAt(placeUnder(layout, box.current, event));
  const scene = { layout, cells, selected, picked, cursor };
  const paint = usePainting(canvas, (sheet, colour) => draw(sheet, scene, { width, height, ...sightOf(box.current) }, colour), look);
  useEffect(paint, [paint, cells, layout, selected, picked, cursor, width, height]);

  const goTo = (place: number) => {
    onAt(cellAt(place), "key");
    reveal(layout, place, box.current);
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const cell = cellAt(cursor);
    const next = placeAfter(layout, event.key, cursor);
    if (next !== null) goTo(next);
    else if (event.key === "Enter" && cell !== undefined) onSelect(cell);
    else if (event.key === " " && cell !== undefined) onPick(cell);
    else return;
    event.preventDefault();
  };
  // Whoever came by the pointer is where it points.
  const focus = (event: FocusEvent<HTMLElement>) => {
    if (cursor < 0 && event.currentTarget.matches(":focus-visible")) goTo(Math.max(0, placeOf(layout, cells, selected)));
  };
  const point = (event: PointerEvent) => {
    // What moves below a pointer that rests is nobody's wish.
    if (event.movementX !== 0 || event.movementY !== 0) onAt(under(event), "pointer");
  };
  return (
    <div
      ref={boxRef}
      className={classes.box}
      tabIndex={0}
      role="group"
      aria-label={`Workers as a grid. ${KEYS}`}
      onKeyDown={press}
      onFocus={focus}
      onBlur={() => onAt(undefined, "pointer")}
      onScroll={paint}
      onPointerMove={point}
      onPointerLeave={(event) => event.currentTarget !== document.activeElement && onAt(undefined, "pointer")}
      onClick={(event) => {
        const cell = under(event);
        if (cell === undefined) return;
        onAt(cell, "pointer");
        if (event.ctrlKey || event.metaKey) onPick(cell);
        else onSelect(cell);
      }}
    >
      <div style={{ height: width === 0 ? 0 : layout.height }}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${plural(cells.length, "worker")} on ${plural(layout.groups.length, "node")}`}
          style={{ height }}
        />
      </div>
    </div>
  );
}

function placeOf({ order }: Layout, cells: readonly Cell[], rank: number | null): number {
  return rank === null ? -1 : order.findIndex((index) => cells[index]?.worker.rank === rank);
}

function placeUnder(layout: Layout, box: HTMLElement | null, { clientX, clientY }: { clientX: number; clientY: number }): number {
  if (box === null) return -1;
  const { left, top } = box.getBoundingClientRect();
  return placeAt(layout, clientX - left, clientY - top + box.scrollTop);
}

function sightOf(box: HTMLElement | null): Pick<Sight, "scrolled" | "ratio"> {
  return { scrolled: box?.scrollTop ?? 0, ratio: devicePixelRatio };
}

/** With the name of its node, as far as that lies above it. */
function reveal({ y }: Layout, place: number, box: HTMLElement | null): void {
  const top = y[place];
  if (box === null || top === undefined) return;
  if (top - NAME_PX < box.scrollTop) box.scrollTop = top - NAME_PX;
  else if (top + PITCH_PX > box.scrollTop + box.clientHeight) box.scrollTop = top + PITCH_PX - box.clientHeight;
}

/** Draws when asked, at most once for each frame of the screen. The colours are read anew when `look` changes. */
function usePainting(
  canvas: RefObject<HTMLCanvasElement | null>,
  paint: (canvas: HTMLCanvasElement, colour: Colour) => void,
  look: string,
): () => void {
  const frame = useRef(0);
  const colour = useRef<Colour | null>(null);
  const now = useCallbackRef(() => {
    frame.current = 0;
    if (canvas.current === null) return;
    colour.current ??= coloursOf(canvas.current);
    paint(canvas.current, colour.current);
  });
  const ask = useCallback(() => {
    frame.current ||= requestAnimationFrame(now);
  }, [now]);
  useEffect(() => {
    colour.current = null;
    ask();
  }, [look, ask]);
  useEffect(() => {
    return () => {
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, []);
  return ask;
}

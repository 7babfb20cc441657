import { useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import type { RoundOut, TimelineOut } from "@/api";
import { plural } from "@/lib/format";
import { draw } from "./draw";
import { atX, heightOf, LABELS_PX, roundAt, viewOf, type Range } from "./scale";
import { wordsAt } from "./under";
import classes from "./timeline.module.css";

interface Props {
  timeline: TimelineOut;
  range: Range;
  /** The right edge. */
  end: number;
  now: number;
  selected: RoundOut | undefined;
  onSelect: (round: RoundOut | undefined) => void;
}

export function TimelineCanvas({ timeline, range, end, now, selected, onSelect }: Props) {
  const { ref: box, width } = useElementSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useComputedColorScheme("light");
  const [pointer, setPointer] = useState<{ x: number; y: number } | null>(null);
  const view = viewOf(timeline, range, end, width);

  useEffect(() => {
    if (canvas.current === null || width === 0) return;
    draw(canvas.current, { timeline, view: viewOf(timeline, range, end, width), end: now, selected });
  }, [timeline, range, end, now, selected, width, scheme]);

  const at = (event: PointerEvent) => {
    const place = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - place.left, y: event.clientY - place.top };
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (event.key === "Escape") onSelect(undefined);
    if (step === 0) return;
    event.preventDefault();
    const from = selected === undefined ? timeline.rounds.length : timeline.rounds.indexOf(selected);
    const index = Math.min(timeline.rounds.length - 1, Math.max(0, from + step));
    onSelect(timeline.rounds[index]);
  };
  const words = pointer === null ? [] : wordsAt(timeline, view, now, pointer.x, pointer.y);
  return (
    <div
      ref={box}
      className={classes.box}
      tabIndex={0}
      role="group"
      aria-label="Timeline picture. Left and right arrow select a round; the same content is there as a table."
      onKeyDown={press}
    >
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${plural(timeline.rounds.length, "round")} on ${plural(timeline.lanes.length, "node")}`}
        style={{ width: "100%", height: heightOf(timeline) }}
        onPointerMove={(event) => setPointer(at(event))}
        onPointerLeave={() => setPointer(null)}
        onClick={() => pointer !== null && pointer.x > LABELS_PX && onSelect(roundAt(timeline.rounds, atX(view, pointer.x)))}
      />
      {pointer !== null && words.length > 0 && (
        <div
          className={classes.tip}
          style={pointer.x > width / 2 ? { right: width - pointer.x + 12, top: pointer.y + 12 } : { left: pointer.x + 12, top: pointer.y + 12 }}
        >
          {words.map((line) => (
            <div key={line}>{line}</div>
          ))}
        </div>
      )}
    </div>
  );
}

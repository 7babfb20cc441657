import { useEffect, useRef } from "react";
import { formatCount } from "@/lib/format";
import type { Entry } from "./cells";
import { coloursOf, drawSample } from "./draw";
import { CELL_PX } from "./layout";
import classes from "./grid.module.css";

/** What the cells mean, each as it is drawn in the grid, and how many there are of it. */
export function GridLegend({ entries, look }: { entries: Entry[]; look: string }) {
  return (
    <ul className={classes.legend} aria-label="What the cells show">
      {entries.map(({ word, cell, count }) => (
        <li key={word}>
          <Sample cell={cell} look={look} />
          <span>{word}</span>{" "}
          <span className="num">{formatCount(count)}</span>
        </li>
      ))}
    </ul>
  );
}

function Sample({ cell, look }: { cell: Entry["cell"]; look: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const shown = JSON.stringify(cell);
  useEffect(() => {
    const sample = () => canvas.current && drawSample(canvas.current, JSON.parse(shown), devicePixelRatio, coloursOf(canvas.current));
    const frame = requestAnimationFrame(sample);
    return () => cancelAnimationFrame(frame);
  }, [shown, look]);
  return <canvas ref={canvas} aria-hidden="true" style={{ width: CELL_PX, height: CELL_PX }} />;
}

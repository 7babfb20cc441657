import { useEffect, useRef, useState, type RefObject } from "react";
import { LANES_MOST_PX } from "./scale";
import { rowsBetween, type Picture, type Row } from "./picture";
import classes from "./timeline.module.css";

interface Props {
  picture: Picture;
  open: ReadonlySet<string>;
  rank: number | undefined;
  lanesPx: number;
  /** The lane that the keys are at; a new object asks for the focus. */
  chosen: { key: string };
  onScroll: (top: number) => void;
  onToggle: (node: string) => void;
  onRank: (rank: number) => void;
}

/** The names of the lanes, which scroll over the picture. Only those in view are there, and the chosen one. */
export function LaneLabels({ picture, open, rank, lanesPx, chosen, onScroll, onToggle, onRank }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useFocusOn(scroller, chosen);
  const { rows } = picture;
  const home = rows.some((row) => row.key === chosen.key) ? chosen.key : rows[0]?.key;
  const [first, end] = rowsBetween(rows, top, top + LANES_MOST_PX);
  const shown = rows.filter((row, index) => (index >= first && index < end) || row.key === chosen.key);
  return (
    <div
      ref={scroller}
      className={classes.lanes}
      style={{ height: lanesPx }}
      onScroll={(event) => {
        const now = event.currentTarget.scrollTop;
        onScroll(now);
        if (rowsBetween(rows, now, now + LANES_MOST_PX).join() !== [first, end].join()) setTop(now);
      }}
    >
      <div style={{ height: picture.height }}>
        {shown.map((row) => (
          <Label
            key={row.key}
            row={row}
            isHome={row.key === home}
            isOpen={open.has(row.node)}
            isChosen={row.rank !== null && row.rank === rank}
            onPress={() => (row.rank === null ? onToggle(row.node) : onRank(row.rank))}
          />
        ))}
      </div>
    </div>
  );
}

/** Moves the focus to a lane's label when it was chosen by a key. */
function useFocusOn(scroller: RefObject<HTMLDivElement | null>, chosen: { key: string }): void {
  useEffect(() => {
    if (chosen.key === "") return;
    scroller.current?.querySelector<HTMLElement>(`[data-lane=${CSS.escape(chosen.key)}]`)?.focus();
  }, [scroller, chosen]);
}

interface LabelProps {
  row: Row;
  isHome: boolean;
  isOpen: boolean;
  isChosen: boolean;
  onPress: () => void;
}

function Label({ row, isHome, isOpen, isChosen, onPress }: LabelProps) {
  const place = { top: row.top, height: row.height, lineHeight: `${row.height}px` };
  const common = { type: "button", style: place, tabIndex: isHome ? 0 : -1, "data-lane": row.key, onClick: onPress } as const;
  if (row.rank !== null) {
    return (
      <button {...common} className={`${classes.lane} ${classes.rank}`} aria-pressed={isChosen} title={`Select rank ${row.rank}`}>
        rank {row.rank}
      </button>
    );
  }
  return (
    <button {...common} className={classes.lane} aria-expanded={isOpen} title={`${isOpen ? "Close" : "Show"} the ranks of ${row.node}`}>
      <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
      <bdi>{row.node}</bdi>
    </button>
  );
}

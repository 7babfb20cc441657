import { useComputedColorScheme } from "@mantine/core";
import { useElementSize, useMergedRef } from "@mantine/hooks";
import { useEffect, useRef, useState, type KeyboardEvent, type RefObject } from "react";
import { plural } from "@/lib/format";
import { never } from "@/lib/never";
import { listenTo } from "./gestures";
import { LaneLabels } from "./lane-labels";
import type { Picture } from "./picture";
import { atX, HEAD_PX } from "./scale";
import { lanesPxOf, type Stage } from "./stage";
import { actOf, type Act } from "./timeline-keys";
import { roundIndexAt } from "./under";
import { UnderPointer } from "./under-pointer";
import type { Place } from "./use-place";
import classes from "./timeline.module.css";

interface Props {
  stage: Stage;
  picture: Picture;
  place: Place;
  /** When what is shown ended; null: it goes on. */
  end: number | null;
  /** Changes when colours do. */
  look: string;
  boxRef: RefObject<HTMLDivElement | null>;
  onOpenCard: () => void;
}

const KEYS =
  "Left and right arrow select a round, up and down a lane; with Shift they move in time. " +
  "Plus and minus zoom, 0 shows all. The same content is there as a table.";

/** The picture: a canvas, the names of its lanes, and what keys, wheel and pointer do to it. */
export function TimelineCanvas({ stage, picture, place, end, look, boxRef, onOpenCard }: Props) {
  const { ref: sized, width } = useElementSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useMergedRef(sized, boxRef);
  const [chosen, setChosen] = useState({ key: "" });
  const lanesPx = lanesPxOf(picture);
  useStage(stage, canvas, { picture, place, end, width, look });
  useGestures(stage, boxRef, picture, place);

  const press = (event: KeyboardEvent) => {
    const act = actOf(event);
    const isOnLabel = event.target !== event.currentTarget;
    if (act === undefined || (isOnLabel && act.does === "open")) return;
    event.preventDefault();
    perform(act, isOnLabel);
  };
  const perform = (act: Act, isOnLabel: boolean) => {
    switch (act.does) {
      case "round":
        return selectNext(act.step);
      case "lane":
        return setChosen({ key: nextLane(picture, act.step) });
      case "pan":
        return stage.panBy(act.share);
      case "zoom":
        return stage.zoom(act.factor);
      case "all":
        return place.show({ range: "all" });
      case "open":
        return onOpenCard();
      case "let go":
        return isOnLabel ? boxRef.current?.focus() : place.select(undefined);
      default:
        return never(act);
    }
  };
  const selectNext = (step: -1 | 1) => {
    const last = picture.rounds.length - 1;
    const index = Math.min(last, Math.max(0, (place.selected ?? last + 1) + step));
    if (last < 0) return;
    place.select(index);
    stage.reveal(picture.formed[index] as number);
  };
  return (
    <div
      ref={box}
      className={classes.box}
      style={{ height: HEAD_PX + lanesPx }}
      tabIndex={0}
      role="group"
      aria-label={`Timeline picture. ${KEYS}`}
      onKeyDown={press}
    >
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${plural(picture.rounds.length, "round")} on ${plural(picture.rows.filter((row) => row.rank === null).length, "node")}`}
        style={{ height: HEAD_PX + lanesPx }}
      />
      <div className={classes.world} aria-hidden="true">
        world size
      </div>
      <LaneLabels
        picture={picture}
        open={place.open}
        rank={place.rank}
        lanesPx={lanesPx}
        chosen={chosen}
        onScroll={(top) => stage.scroll(top)}
        onToggle={place.toggle}
        onRank={place.chooseRank}
      />
      <UnderPointer stage={stage} picture={picture} />
    </div>
  );
}

/** The lane after the one that has the focus; the first or the last when none has. */
function nextLane({ rows }: Picture, step: -1 | 1): string {
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["lane"] : undefined;
  const at = rows.findIndex((row) => row.key === focused);
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step));
  return rows[next]?.key ?? "";
}

interface Given {
  picture: Picture;
  place: Place;
  end: number | null;
  width: number;
  look: string;
}

/** Gives the stage what React knows. It draws by itself. */
function useStage(stage: Stage, canvas: RefObject<HTMLCanvasElement | null>, { picture, place, end, width, look }: Given): void {
  const scheme = useComputedColorScheme("light");
  const { shown, selected, rank } = place;
  const address = JSON.stringify(shown);
  useEffect(() => (canvas.current === null ? undefined : stage.attach(canvas.current)), [stage, canvas]);
  useEffect(() => stage.set({ picture, end, width, selected, rank }), [stage, picture, end, width, selected, rank]);
  useEffect(() => stage.show(JSON.parse(address)), [stage, address]);
  useEffect(() => stage.repaint(), [stage, scheme, look]);
  useEffect(() => {
    stage.onRest = place.show;
  });
}

function useGestures(stage: Stage, box: RefObject<HTMLDivElement | null>, picture: Picture, place: Place): void {
  const pick = useRef((_x: number) => undefined as void);
  useEffect(() => {
    pick.current = (x) => {
      const index = roundIndexAt(picture.formed, atX(stage.view, x));
      place.select(index < 0 ? undefined : index);
    };
  });
  useEffect(() => (box.current === null ? undefined : listenTo(box.current, stage, ({ x }) => pick.current(x))), [stage, box]);
}

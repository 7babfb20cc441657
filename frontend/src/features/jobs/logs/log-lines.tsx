import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useRef, type ReactNode } from "react";
import { nameOf, type LogLineOut } from "@/api";
import { LogLine } from "./log-line";
import classes from "./log-lines.module.css";

interface Props {
  lines: LogLineOut[];
  hasOlder: boolean;
  /** The last line here is the last there is, as far as is known. */
  isAtEnd: boolean;
  loadOlder: () => Promise<boolean>;
  loadNewer: () => Promise<boolean>;
  isFollowing: boolean;
  onFollowing: (follows: boolean) => void;
  isNamed: boolean;
  hasTimes: boolean;
  pattern: RegExp | null;
  /** The key of the line to show. */
  target: string | null;
  /** What stands above the first line when it is the first that is left. */
  beginning: ReactNode;
  /** What stands here while there are no lines. */
  says: ReactNode;
}

const NEAR_END_PX = 24;
/** Lines are fetched before one comes to the last that is here. */
const AHEAD_PX = 1200;
const ROW_PX = 18;
const BACK: ReadonlySet<string> = new Set(["ArrowUp", "PageUp", "Home"]);

/** Lines of a log, windowed. More are fetched in both directions as one scrolls; at the end it follows. */
export function LogLines(props: Props) {
  const { lines, isFollowing, target } = props;
  const box = useRef<HTMLDivElement>(null);
  const getItemKey = useCallback((index: number) => (lines[index] ? nameOf(lines[index]) : index), [lines]);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey,
    overscan: 20,
    // What is looked at stays where it is when lines come in front of it, or go.
    anchorTo: "end",
    followOnAppend: isFollowing,
    scrollEndThreshold: NEAR_END_PX,
  });
  useFollowing(rows, lines.length, isFollowing && target === null);
  useTarget(rows, lines, target, box);
  const scrolled = useFetchAhead(props, box);
  const before = useRef({ top: 0, height: 0 });
  const noteScroll = () => {
    const at = box.current;
    if (at === null) return;
    const { top, height } = before.current;
    before.current = { top: at.scrollTop, height: at.scrollHeight };
    const isNear = props.isAtEnd && at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_END_PX;
    // Lines that go shorten the list, and move the view back by themselves.
    const hasGoneBack = at.scrollTop < top - 1 && at.scrollHeight >= height;
    if (isFollowing && hasGoneBack && !isNear) props.onFollowing(false);
    else if (!isFollowing && isNear && at.scrollTop > top) props.onFollowing(true);
    scrolled();
  };
  // Whoever goes back is let go at once: while lines come in fast, positions alone do not tell it.
  const leave = () => isFollowing && props.onFollowing(false);
  return (
    <div
      ref={box}
      className={`${classes.box} live`}
      tabIndex={0}
      role="log"
      aria-label="Output"
      aria-live="off"
      onScroll={noteScroll}
      onWheel={(event) => event.deltaY < 0 && leave()}
      onKeyDown={(event) => BACK.has(event.key) && leave()}
    >
      {lines.length === 0 && <div className={classes.says}>{props.says}</div>}
      {lines.length > 0 && !props.hasOlder && props.beginning}
      <div style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((row) => {
          const line = lines[row.index];
          if (line === undefined) return null;
          return (
            <div key={row.key} ref={rows.measureElement} data-index={row.index} className={classes.row} style={{ transform: `translateY(${row.start}px)` }}>
              <LogLine line={line} isNamed={props.isNamed} hasTime={props.hasTimes} pattern={props.pattern} isTarget={line.key === target} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

type Rows = ReturnType<typeof useVirtualizer<HTMLDivElement, Element>>;

function useFollowing(rows: Rows, count: number, isFollowing: boolean): void {
  useEffect(() => {
    if (isFollowing && count > 0) rows.scrollToIndex(count - 1, { align: "end" });
  }, [rows, isFollowing, count]);
}

/** Shows the line once for each time that it is asked for, as soon as it is there. */
function useTarget(rows: Rows, lines: LogLineOut[], target: string | null, box: React.RefObject<HTMLDivElement | null>): void {
  const shown = useRef<string | null>(null);
  useEffect(() => {
    if (target === null) shown.current = null;
    if (target === null || shown.current === target) return;
    const index = lines.findIndex((line) => line.key === target);
    if (index < 0) return;
    shown.current = target;
    rows.scrollToIndex(index, { align: "center" });
    // Below the timeline, much of the log may lie under the edge of the window.
    box.current?.scrollIntoView({ block: "nearest" });
  }, [rows, lines, target, box]);
}

/** Looks after each scroll, and after each answer: a fast hand is further by then. */
function useFetchAhead({ lines, hasOlder, isAtEnd, loadOlder, loadNewer, target }: Props, box: React.RefObject<HTMLDivElement | null>) {
  const isLoading = useRef(false);
  const look = useCallback(() => {
    const at = box.current;
    if (at === null || isLoading.current || lines.length === 0) return;
    const below = at.scrollHeight - at.scrollTop - at.clientHeight;
    const load = hasOlder && at.scrollTop < AHEAD_PX ? loadOlder : !isAtEnd && below < AHEAD_PX ? loadNewer : null;
    if (load === null) return;
    isLoading.current = true;
    // What went wrong is said by the question that is asked all the time; here it is just tried again.
    void load()
      .catch(() => false)
      .finally(() => (isLoading.current = false));
  }, [box, lines, hasOlder, isAtEnd, loadOlder, loadNewer]);
  useEffect(() => {
    // Not before the view has come to where it is to be.
    const frame = requestAnimationFrame(() => requestAnimationFrame(look));
    return () => cancelAnimationFrame(frame);
  }, [look, target]);
  return look;
}

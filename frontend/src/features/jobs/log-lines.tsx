import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { LogLineOut } from "@/api";
import { plainText } from "@/lib/ansi";
import classes from "./log-tab.module.css";

interface Props {
  lines: LogLineOut[];
  hasOlder: boolean;
  /** Puts older lines in front and says how many. */
  loadOlder: () => Promise<number>;
  isFollowing: boolean;
  onFollowing: (follows: boolean) => void;
  /** What stands here while there are no lines. */
  says: string;
}

const NEAR_PX = 24;

/** Lines of a log, windowed. Scrolling up fetches older ones and ends following; the end begins it again. */
export function LogLines({ lines, hasOlder, loadOlder, isFollowing, onFollowing, says }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const isLoading = useRef(false);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => 18,
    getItemKey: (index) => lines[index]?.offset ?? index,
    overscan: 30,
  });
  useEffect(() => {
    if (isFollowing && lines.length > 0) rows.scrollToIndex(lines.length - 1, { align: "end" });
  }, [rows, isFollowing, lines.length]);

  const scrolled = async () => {
    const at = box.current;
    if (at === null) return;
    const isAtEnd = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_PX;
    if (isAtEnd !== isFollowing && (isAtEnd || rows.scrollDirection === "backward")) onFollowing(isAtEnd);
    if (at.scrollTop > NEAR_PX || !hasOlder || isLoading.current || isAtEnd) return;
    isLoading.current = true;
    const before = at.scrollHeight;
    try {
      await loadOlder();
      requestAnimationFrame(() => (at.scrollTop += at.scrollHeight - before));
    } finally {
      isLoading.current = false;
    }
  };

  return (
    <div ref={box} className={`${classes.box} live`} tabIndex={0} role="log" aria-label="Output" aria-live="off" onScroll={() => void scrolled()}>
      {lines.length === 0 && <div className={classes.says}>{says}</div>}
      <div style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((row) => (
          <div
            key={row.key}
            ref={rows.measureElement}
            data-index={row.index}
            className={classes.line}
            style={{ transform: `translateY(${row.start}px)` }}
          >
            {plainText(lines[row.index]?.text ?? "")}
          </div>
        ))}
      </div>
    </div>
  );
}

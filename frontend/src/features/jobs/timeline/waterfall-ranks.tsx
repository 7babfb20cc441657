import { useRef, type Ref, type RefObject } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import type { RoundOut, WaterfallOut, WaterfallRow, useWaterfall } from "@/api";
import { Refused } from "@/ui/refused";
import { clockWords, inOrder, lastIn, nameOf, tookOf, whichLast } from "./waterfall-ranks-words";
import type { Axis } from "./waterfall-scale";
import { AxisHead, Columns, Track } from "./waterfall-track";
import { formatTook, listedPhases } from "./waterfall-words";
import classes from "./waterfall.module.css";

/** More rows than these are put into the page only while they are in sight. */
const MOST_ROWS = 50;
const ROW_PX = 24;

interface Props {
  ranks: ReturnType<typeof useWaterfall>;
  round: RoundOut;
  axis: Axis | null;
}

/** The same phases for each node and each rank, and how far their clocks were off. */
export function WaterfallRanks({ ranks, round, axis }: Props) {
  if (ranks.data !== undefined) return <Told waterfall={ranks.data} round={round} axis={axis} />;
  if (ranks.error !== null) {
    return <Refused error={ranks.error} tried={`The ranks of round ${round.number} were asked for.`} />;
  }
  return <p className="quiet">Asking the hub for each rank …</p>;
}

function Told({ waterfall, round, axis }: { waterfall: WaterfallOut; round: RoundOut; axis: Axis | null }) {
  if (waterfall.rows.length === 0) return <p className="quiet">No node has reported a moment of its way into this round.</p>;
  return (
    <>
      <Rows rows={inOrder(waterfall.rows)} round={round} axis={axis} />
      <ul className={classes.clocks} tabIndex={0} aria-label="Clocks of the nodes">
        {waterfall.clocks.map((clock) => (
          <li key={clock.node}>{clockWords(clock)}</li>
        ))}
      </ul>
    </>
  );
}

function Rows({ rows, round, axis }: { rows: WaterfallRow[]; round: RoundOut; axis: Axis | null }) {
  const box = useRef<HTMLDivElement>(null);
  const { shown, above, below, measure } = useShown(rows, box);
  return (
    <div ref={box} className={classes.ranks} tabIndex={0} role="region" aria-label="Phases of each node and rank">
      <table className={classes.table} aria-rowcount={rows.length + 1} data-testid="waterfall-ranks">
        <Columns />
        <thead>
          <tr aria-rowindex={1}>
            <th>Node or rank</th>
            <th>
              <AxisHead axis={axis} />
            </th>
            <th className={classes.num}>Took</th>
            <th colSpan={2}>Last of all in (drawn thick)</th>
          </tr>
        </thead>
        <tbody>
          <Space height={above} />
          {shown.map(({ row, index }) => (
            <Row key={`${row.node} ${row.rank}`} ref={measure} row={row} index={index} round={round} axis={axis} />
          ))}
          <Space height={below} />
        </tbody>
      </table>
    </div>
  );
}

function useShown(rows: WaterfallRow[], box: RefObject<HTMLDivElement | null>) {
  const isWindowed = rows.length > MOST_ROWS;
  const window = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
    enabled: isWindowed,
  });
  const all = rows.map((row, index) => ({ row, index }));
  if (!isWindowed) return { shown: all, above: 0, below: 0, measure: undefined };
  const items = window.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  return {
    shown: all.slice(first?.index ?? 0, (last?.index ?? -1) + 1),
    above: first?.start ?? 0,
    below: window.getTotalSize() - (last?.end ?? 0),
    // Without room for columns a row is higher than elsewhere.
    measure: window.measureElement,
  };
}

function Space({ height }: { height: number }) {
  if (height === 0) return null;
  return (
    <tr aria-hidden="true">
      <td colSpan={5} style={{ height }} />
    </tr>
  );
}

interface RowProps {
  ref: Ref<HTMLTableRowElement> | undefined;
  row: WaterfallRow;
  index: number;
  round: RoundOut;
  axis: Axis | null;
}

function Row({ ref, row, index, round, axis }: RowProps) {
  const took = tookOf(row);
  const last = whichLast(row, round.phases);
  return (
    <tr ref={ref} data-index={index} aria-rowindex={index + 2} data-last={last.size > 0 || undefined}>
      <th scope="row" title={nameOf(row)}>
        {nameOf(row)}
      </th>
      <td>
        <Track phases={row.phases} axis={axis} last={last} says={listedPhases(row.phases)} />
      </td>
      <td className={classes.num}>{took === null ? <span className="quiet">not reported</span> : formatTook(took)}</td>
      <td className={classes.note} colSpan={2}>
        {lastIn(last)}
      </td>
    </tr>
  );
}

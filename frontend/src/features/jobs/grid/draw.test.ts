import { expect, test } from "vitest";
import { cellsOf, legendOf } from "./cells";
import { draw, type Sight } from "./draw";
import { layoutOf } from "./layout";
import { NOW, uses, workers } from "./made-up";
import { MEASURES, type Measure } from "./view";

interface Pen {
  calls: [string, unknown[]][];
}

/** A canvas that only remembers what it was told to draw. */
function paper(): { canvas: HTMLCanvasElement } & Pen {
  const calls: [string, unknown[]][] = [];
  const pen = new Proxy({} as Record<string, unknown>, {
    get: (held, name: string) => held[name] ?? ((...args: unknown[]) => void calls.push([name, args])),
  });
  return { canvas: { width: 0, height: 0, getContext: () => pen } as unknown as HTMLCanvasElement, calls };
}

function drawn(count: number, sight: Partial<Sight> = {}, cursor = -1, by: Measure = "state"): Pen["calls"] {
  const all = workers(count);
  const layout = layoutOf(all, 800);
  const usage = new Map(all.map(({ rank }) => [rank, uses(rank, { gpu: (rank % 100) / 100 })]));
  const cells = cellsOf(all, by, { usage, fastest: 100, now: NOW });
  legendOf(cells, by, usage);
  const { canvas, calls } = paper();
  const whole = { width: 800, height: layout.height, scrolled: 0, ratio: 2, ...sight };
  draw(canvas, { layout, cells, selected: null, picked: new Set(), cursor }, whole, (name) => name);
  return calls;
}

function named(calls: Pen["calls"], name: string): unknown[][] {
  return calls.filter(([called]) => called === name).map(([, args]) => args);
}

test("all of 2,000 workers are drawn, each node with its name", () => {
  const calls = drawn(2000);
  expect(named(calls, "fillRect")).toHaveLength(2000);
  expect(named(calls, "fillText").map(([text]) => text)).toContain("node-249");
});

test("what is out of sight is not drawn", () => {
  const inSight = named(drawn(2000, { height: 100 }), "fillRect").length;
  expect(inSight).toBeGreaterThan(0);
  expect(inSight).toBeLessThan(400);
});

test("the cell with the cursor has an outline", () => {
  expect(named(drawn(8), "strokeRect")).toHaveLength(0);
  expect(named(drawn(8, {}, 3), "strokeRect")).toHaveLength(1);
});

/** The median of some turns, in milliseconds of processor time. */
function costOf(act: () => void): number {
  act();
  const turns = Array.from({ length: 20 }, () => {
    const before = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return turns.sort((a, b) => a - b)[turns.length >> 1] as number;
}

test.each(MEASURES)("2,000 workers by %s are all drawn, and what that costs is printed", (by) => {
  const cells = named(drawn(2000, {}, -1, by), by === "state" ? "fillRect" : "strokeRect");
  expect(cells).toHaveLength(2000);
  const ms = costOf(() => drawn(2000, {}, -1, by));
  console.info(`${by}: ${ms.toFixed(1)} ms of processor time for laying out, levels, legend and drawing calls`);
});

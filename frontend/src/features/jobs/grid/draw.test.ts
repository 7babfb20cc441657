import { expect, test } from "vitest";
import { cellsOf } from "./cells";
import { draw, type Sight } from "./draw";
import { layoutOf } from "./layout";
import { NOW, workers } from "./made-up";

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

function drawn(count: number, sight: Partial<Sight> = {}, cursor = -1): Pen["calls"] {
  const all = workers(count);
  const layout = layoutOf(all, 800);
  const cells = cellsOf(all, "state", { usage: new Map(), fastest: 100, now: NOW });
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

import { expect, test } from "vitest";
import { layoutOf, PITCH_PX, placeAfter, placeAt } from "./layout";
import { workers } from "./made-up";

const WIDE_PX = 800;
const PHONE_PX = 320;

function spots(width: number, count: number): Set<string> {
  const { x, y } = layoutOf(workers(count), width);
  return new Set([...x].map((left, place) => `${left},${y[place]}`));
}

test.each([2, 48, 2000])("each of %i workers has a cell of its own, on a wide page and on a phone", (count) => {
  expect(spots(WIDE_PX, count).size).toBe(count);
  expect(spots(PHONE_PX, count).size).toBe(count);
});

test.each([WIDE_PX, PHONE_PX])("no cell lies outside a page of %i pixels, or below the grid's end", (width) => {
  const { x, y, height } = layoutOf(workers(2000), width);
  expect(Math.max(...x) + PITCH_PX).toBeLessThanOrEqual(width + 2);
  expect(Math.max(...y) + PITCH_PX).toBeLessThanOrEqual(height);
});

test("the workers of a node lie together, whatever the order in which they come", () => {
  const mixed = [0, 8, 1, 9].map((rank) => workers(16)[rank] as { rank: number; node: string });
  const { groups, order } = layoutOf(mixed, WIDE_PX);
  expect(groups.map(({ node, from, to }) => [node, order.slice(from, to).map((at) => mixed[at]?.rank)])).toEqual([
    ["node-0", [0, 1]],
    ["node-1", [8, 9]],
  ]);
});

test("a point in a cell finds it, and one beside all cells finds none", () => {
  const layout = layoutOf(workers(64), WIDE_PX);
  for (let place = 0; place < 64; place += 1) {
    expect(placeAt(layout, (layout.x[place] as number) + 7, (layout.y[place] as number) + 7)).toBe(place);
  }
  expect(placeAt(layout, WIDE_PX * 2, 5)).toBe(-1);
});

test("arrows go through the cells and stop at the edges", () => {
  const layout = layoutOf(workers(64), PHONE_PX);
  expect(placeAfter(layout, "ArrowLeft", 0)).toBe(0);
  expect(placeAfter(layout, "ArrowRight", 0)).toBe(1);
  expect(placeAfter(layout, "ArrowUp", 3)).toBe(3);
  const below = placeAfter(layout, "ArrowDown", 3) as number;
  expect(layout.x[below]).toBe(layout.x[3]);
  expect(placeAfter(layout, "ArrowUp", below)).toBe(3);
  expect(placeAfter(layout, "End", 3)).toBe(63);
  expect(placeAfter(layout, "Home", 9)).toBe(0);
});

test("other keys, and any key in an empty grid, lead nowhere", () => {
  expect(placeAfter(layoutOf(workers(8), WIDE_PX), "k", 0)).toBeNull();
  expect(placeAfter(layoutOf([], WIDE_PX), "ArrowDown", 0)).toBeNull();
});

import { expect, test } from "vitest";
import { moved, pixelMs, readShown, showing, stretchOf, writtenShown, zoomed } from "./view";

const BOUNDS = { began: 0, now: 7_200_000 };
const MIDDLE = { from: 3_000_000, to: 3_600_000 };

function address(text: string): URLSearchParams {
  return new URLSearchParams(text);
}

test("a range ends at now and never begins before the job", () => {
  expect(stretchOf({ range: "10m" }, BOUNDS)).toEqual({ from: 6_600_000, to: 7_200_000 });
  expect(stretchOf({ range: "all" }, BOUNDS)).toEqual({ from: 0, to: 7_200_000 });
  expect(stretchOf({ range: "1h" }, { began: 0, now: 60_000 })).toEqual({ from: 0, to: 60_000 });
});

test("a stretch stays where it is while time goes on", () => {
  expect(stretchOf(MIDDLE, BOUNDS)).toEqual(MIDDLE);
  expect(stretchOf(MIDDLE, { began: 0, now: 9_000_000 })).toEqual(MIDDLE);
});

test("what is under the pointer stays there when it comes nearer", () => {
  expect(zoomed(MIDDLE, 2, 3_300_000, BOUNDS)).toEqual({ from: 3_150_000, to: 3_450_000 });
  expect(zoomed(MIDDLE, 2, 3_000_000, BOUNDS)).toEqual({ from: 3_000_000, to: 3_300_000 });
});

test("it comes no nearer than a fifth of a second, and shows no more than there is", () => {
  const near = zoomed(MIDDLE, 1e9, 3_300_000, BOUNDS);
  expect(near.to - near.from).toBeCloseTo(200);
  expect(zoomed(MIDDLE, 1e-9, 3_300_000, BOUNDS)).toEqual({ from: 0, to: 7_200_000 });
});

test("it is moved no further than from the beginning to now", () => {
  expect(moved(MIDDLE, -600_000, BOUNDS)).toEqual({ from: 2_400_000, to: 3_000_000 });
  expect(moved(MIDDLE, -9e9, BOUNDS)).toEqual({ from: 0, to: 600_000 });
  expect(moved(MIDDLE, 9e9, BOUNDS)).toEqual({ from: 6_600_000, to: 7_200_000 });
});

test("a moment in sight moves nothing, one out of sight comes to the middle", () => {
  expect(showing(MIDDLE, 3_100_000, BOUNDS)).toBe(MIDDLE);
  expect(showing(MIDDLE, 1_000_000, BOUNDS)).toEqual({ from: 700_000, to: 1_300_000 });
});

test("a copied address shows the same", () => {
  const written = writtenShown(MIDDLE);
  expect(written).toEqual({ from: "1970-01-01T00:50:00.000Z", to: "1970-01-01T01:00:00.000Z" });
  expect(readShown(address(`range=1h&from=${written["from"]}&to=${written["to"]}`))).toEqual(MIDDLE);
  expect(writtenShown({ range: "1h" })).toEqual({ range: "1h", from: null, to: null });
});

test("an address that makes no sense shows the last ten minutes", () => {
  for (const text of ["", "range=2h", "from=x&to=y", "from=2026-11-30T12:00:00Z", "from=2026-11-30T12:00:00Z&to=2026-11-30T11:00:00Z"]) {
    expect(readShown(address(text))).toEqual({ range: "10m" });
  }
});

test("as time goes on it is another picture by the pixel or the second, and the same one once now is out of view", () => {
  expect(pixelMs({ from: 0, to: 600_000 }, 1200, 600_000)).toBe(1000);
  expect(pixelMs({ from: 0, to: 3_600_000 }, 1200, 3_600_000)).toBe(3000);
  expect(pixelMs({ from: 0, to: 600_000 }, 1200, 600_001)).toBe(null);
});

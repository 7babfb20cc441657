import { expect, test } from "vitest";
import { actOf } from "./timeline-keys";

function pressed(key: string, held: { shiftKey?: boolean; ctrlKey?: boolean } = {}) {
  return actOf({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...held });
}

test("arrows go from round to round and from lane to lane, with Shift they move in time", () => {
  expect(pressed("ArrowLeft")).toEqual({ does: "round", step: -1 });
  expect(pressed("ArrowDown")).toEqual({ does: "lane", step: 1 });
  expect(pressed("ArrowRight", { shiftKey: true })).toEqual({ does: "pan", share: 0.25 });
});

test("plus is plus on every keyboard", () => {
  expect(pressed("+", { shiftKey: true })).toEqual({ does: "zoom", factor: 2 });
  expect(pressed("=")).toEqual({ does: "zoom", factor: 2 });
  expect(pressed("-")).toEqual({ does: "zoom", factor: 0.5 });
});

test("the browser keeps its own keys", () => {
  expect(pressed("+", { ctrlKey: true })).toBeUndefined();
  expect(pressed("ArrowLeft", { ctrlKey: true })).toBeUndefined();
  expect(pressed("Tab")).toBeUndefined();
});

import { expect, test } from "vitest";
import { readView } from "./view";

test("from 48 workers on there is a grid, below there are rows", () => {
  expect(readView(new URLSearchParams(), 47).way).toBe("rows");
  expect(readView(new URLSearchParams(), 48).way).toBe("grid");
});

test("the address says what is shown, whatever the number of workers", () => {
  expect(readView(new URLSearchParams("workers=grid&by=gpu&only=behind"), 2)).toEqual({ way: "grid", by: "gpu", only: "behind" });
  expect(readView(new URLSearchParams("workers=rows"), 2000).way).toBe("rows");
});

test("words that the page does not know change nothing", () => {
  expect(readView(new URLSearchParams("workers=pie&by=mood&only=nice"), 2)).toEqual({ way: "rows", by: "state", only: "all" });
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DEFAULTS, isDefault } from "./spec-defaults";

interface OpenApi {
  components: { schemas: Record<string, { properties: Record<string, { default?: unknown }> }> };
}

test("the defaults are those of the hub", () => {
  const api = JSON.parse(readFileSync("../webapp/openapi.json", "utf8")) as OpenApi;
  const fields = api.components.schemas["SpecIn"]?.properties ?? {};
  expect(Object.keys(DEFAULTS).sort()).toEqual(Object.keys(fields).sort());
  for (const [name, field] of Object.entries(fields)) {
    if (field.default !== undefined) expect([name, isDefault(name, field.default)]).toEqual([name, true]);
  }
});

import { describe, expect, it } from "vitest";
import { namesAtFirst, readView, spoken, toggled, writeView, type MetricsView } from "./view";

function roundTrip(view: MetricsView): MetricsView {
  const params = new URLSearchParams("tab=metrics&rank=3");
  writeView(params, view);
  expect(params.get("rank")).toBe("3");
  return readView(new URLSearchParams(params.toString()));
}

const AT_FIRST: MetricsView = { names: null, axis: "time", span: null, logs: new Set() };

describe("what stands in the address", () => {
  it("comes back as it was written", () => {
    const views: MetricsView[] = [
      AT_FIRST,
      { ...AT_FIRST, names: [] },
      { names: ["loss", "torch:x.ms"], axis: "step", span: { from: 10, to: 500 }, logs: new Set(["loss"]) },
      { ...AT_FIRST, span: { from: 1_772_373_600_000, to: 1_772_373_660_500 } },
    ];
    for (const view of views) expect(roundTrip(view)).toEqual(view);
  });

  it("is nothing as long as nobody has chosen anything", () => {
    const params = new URLSearchParams("tab=metrics");
    writeView(params, AT_FIRST);
    expect(params.toString()).toBe("tab=metrics");
  });

  it("is left alone where it makes no sense", () => {
    expect(readView(new URLSearchParams("mfrom=5&mto=4&mx=sideways"))).toEqual(AT_FIRST);
    expect(readView(new URLSearchParams("mfrom=now&mto=4")).span).toBeNull();
    expect(readView(new URLSearchParams("mto=4")).span).toBeNull();
  });
});

describe("the metrics that are shown", () => {
  const job = (name: string) => ({ name, group: "job" as const });

  it("are at first the job's own, then rate and step", () => {
    expect(namesAtFirst(["step", "rate", "loss", "lr"].map(job))).toEqual(["loss", "lr", "rate", "step"]);
    expect(namesAtFirst(["step", "rate", "a", "b", "c"].map(job))).toEqual(["a", "b", "rate", "step"]);
    expect(namesAtFirst([{ name: "torch:x", group: "torch" }, job("step")])).toEqual(["step"]);
    expect(namesAtFirst([])).toEqual([]);
  });

  it("are switched on and off by name", () => {
    expect(toggled(["loss"], "lr")).toEqual(["loss", "lr"]);
    expect(toggled(["loss", "lr"], "loss")).toEqual(["lr"]);
    expect(spoken("torch:SimpleElasticAgent._rendezvous.duration.ms")).toBe("SimpleElasticAgent._rendezvous.duration.ms");
  });
});

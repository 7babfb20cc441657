import { useSearchParams } from "wouter";
import { readView, type Filter, type Measure, type Way, type WorkersView } from "./view";

export interface ViewChoice extends WorkersView {
  chooseWay: (way: Way) => void;
  chooseMeasure: (by: Measure) => void;
  chooseFilter: (only: Filter) => void;
}

/** How the workers are shown. It stands in the address once somebody has chosen it. */
export function useView(workers: number): ViewChoice {
  const [params, setParams] = useSearchParams();
  const set = (name: string, value: string | null) =>
    setParams(
      (held) => {
        if (value === null) held.delete(name);
        else held.set(name, value);
        return held;
      },
      { replace: true },
    );
  return {
    ...readView(params, workers),
    chooseWay: (way) => set("workers", way),
    chooseMeasure: (by) => set("by", by === "state" ? null : by),
    chooseFilter: (only) => set("only", only === "all" ? null : only),
  };
}

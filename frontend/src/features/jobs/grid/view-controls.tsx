import { NativeSelect, SegmentedControl } from "@mantine/core";
import type { ViewChoice } from "./use-view";
import { FILTER_WORDS, FILTERS, MEASURE_WORDS, MEASURES, type Filter, type Measure, type Way } from "./view";

/** As rows or as a grid, what its cells show, and which workers. */
export function ViewControls({ view, hasFilter }: { view: ViewChoice; hasFilter: boolean }) {
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label="Workers as"
        value={view.way}
        onChange={(value) => view.chooseWay(value as Way)}
        data={["rows", "grid"]}
      />
      {view.way === "grid" && (
        <NativeSelect
          size="xs"
          aria-label="Cells show"
          value={view.by}
          onChange={(event) => view.chooseMeasure(event.currentTarget.value as Measure)}
          data={MEASURES.map((value) => ({ value, label: MEASURE_WORDS[value] }))}
        />
      )}
      {hasFilter && (
        <NativeSelect
          size="xs"
          aria-label="Workers shown"
          value={view.only}
          onChange={(event) => view.chooseFilter(event.currentTarget.value as Filter)}
          data={FILTERS.map((value) => ({ value, label: FILTER_WORDS[value] }))}
        />
      )}
    </>
  );
}

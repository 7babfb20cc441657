import { Button, SegmentedControl, Switch } from "@mantine/core";
import type { RoundOut } from "@/api";
import { formatClock, formatDuration, formatMoment } from "@/lib/format";
import { ZOOM_FACTOR } from "./timeline-keys";
import { isFollowing, type Range, type Stretch } from "./view";
import type { Stage } from "./stage";
import type { Place } from "./use-place";
import classes from "./timeline.module.css";

interface Props {
  stage: Stage;
  place: Place;
  selected: RoundOut | undefined;
  isOver: boolean;
  isTable: boolean;
  onTable: (isTable: boolean) => void;
}

/** What of the timeline is shown, and how. */
export function TimelineControls({ stage, place, selected, isOver, isTable, onTable }: Props) {
  const { shown, range } = place;
  const follows = isFollowing(shown);
  return (
    <div className={classes.controls}>
      <h2>Timeline</h2>
      {!isTable && (
        <>
          <SegmentedControl
            size="xs"
            aria-label="Range"
            value={follows ? range : ""}
            onChange={(value) => place.show({ range: value as Range })}
            data={[
              { value: "10m", label: "10 min" },
              { value: "1h", label: "1 h" },
              { value: "all", label: "all" },
            ]}
          />
          <Button.Group>
            <Button size="compact-xs" variant="default" aria-label="Zoom out" onClick={() => stage.zoom(1 / ZOOM_FACTOR)}>
              −
            </Button>
            <Button size="compact-xs" variant="default" aria-label="Zoom in" onClick={() => stage.zoom(ZOOM_FACTOR)}>
              +
            </Button>
          </Button.Group>
          {!isOver && (
            <Switch
              size="xs"
              label="follow"
              checked={follows}
              onChange={(event) => place.show(event.currentTarget.checked ? { range } : asIs(stage))}
            />
          )}
          {!follows && <Stretched {...shown} />}
        </>
      )}
      {selected !== undefined && (
        <Button size="compact-xs" variant="default" onClick={() => place.select(undefined)}>
          Round {selected.number} ×
        </Button>
      )}
      <Button size="compact-xs" variant="subtle" ml="auto" onClick={() => onTable(!isTable)}>
        {isTable ? "Show as picture" : "Show as table"}
      </Button>
    </div>
  );
}

/** What is shown now, and stays. */
function asIs(stage: Stage): Stretch {
  const { from, to } = stage.view;
  return { from, to };
}

/** Below so many milliseconds a step to the side is less than a second, and is seen all the same. */
const SHORT_MS = 20_000;

function Stretched({ from, to }: Stretch) {
  const tenths = to - from < SHORT_MS;
  return (
    <span className={`${classes.shown} quiet small`} data-testid="shown-time" title={`${formatMoment(from)} to ${formatMoment(to)}`}>
      {formatClock(from, tenths)} to {formatClock(to, tenths)}, {formatDuration((to - from) / 1000)}
    </span>
  );
}

import { Button, SegmentedControl } from "@mantine/core";
import type { MetricsOut } from "@/api";
import { formatClock, formatCount } from "@/lib/format";
import { spoken, toggled, type Axis, type MetricsView } from "./view";
import classes from "./metrics.module.css";

interface Props {
  told: MetricsOut;
  view: MetricsView;
  names: string[];
  isTable: boolean;
  onView: (change: Partial<MetricsView>) => void;
  onTable: (isTable: boolean) => void;
}

/** Which metrics, over time or steps, and which part of it. */
export function MetricsControls({ told, view, names, isTable, onView, onTable }: Props) {
  const torch = told.names.filter((each) => each.group === "torch").map((each) => each.name);
  const own = told.names.filter((each) => each.group === "job").map((each) => each.name);
  const choose = (name: string) => onView({ names: toggled(names, name) });
  return (
    <div className={classes.controls}>
      <div className={classes.line}>
        <SegmentedControl
          size="xs"
          aria-label="Horizontal axis"
          value={view.axis}
          onChange={(axis) => onView({ axis: axis as Axis, span: null })}
          data={[
            { value: "time", label: "time" },
            { value: "step", label: "step" },
          ]}
        />
        {view.span !== null && <Shown view={view} onReset={() => onView({ span: null })} />}
        <Button size="compact-xs" variant="subtle" ml="auto" onClick={() => onTable(!isTable)}>
          {isTable ? "Show as charts" : "Show as table"}
        </Button>
      </div>
      <Choice label="Metrics" all={own} chosen={names} onChoose={choose} />
      {torch.length > 0 && (
        <details open={torch.some((name) => names.includes(name))}>
          <summary className="quiet small">What torch&apos;s elastic agent told of itself ({torch.length})</summary>
          <Choice label="Metrics of torch" all={torch} chosen={names} onChoose={choose} />
        </details>
      )}
    </div>
  );
}

function Shown({ view: { axis, span }, onReset }: { view: MetricsView; onReset: () => void }) {
  if (span === null) return null;
  const say = axis === "time" ? formatClock : (step: number) => formatCount(step);
  return (
    <span className="num small" data-testid="shown-metrics">
      {axis === "step" && "step "}
      {say(span.from)} to {say(span.to)}{" "}
      <Button size="compact-xs" variant="default" onClick={onReset}>
        Show all
      </Button>
    </span>
  );
}

interface ChoiceProps {
  label: string;
  all: string[];
  chosen: readonly string[];
  onChoose: (name: string) => void;
}

function Choice({ label, all, chosen, onChoose }: ChoiceProps) {
  return (
    <div className={classes.choice} role="group" aria-label={label}>
      {all.map((name) => {
        const isOn = chosen.includes(name);
        return (
          <Button key={name} size="compact-xs" variant={isOn ? "light" : "default"} aria-pressed={isOn} onClick={() => onChoose(name)}>
            {spoken(name)}
          </Button>
        );
      })}
    </div>
  );
}

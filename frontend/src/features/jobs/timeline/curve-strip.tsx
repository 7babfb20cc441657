import { SegmentedControl } from "@mantine/core";
import { useEffect, useMemo, useRef } from "react";
import { useSearchParams } from "wouter";
import { useCurve, useJob, type JobOut } from "@/api";
import { formatMetric } from "@/lib/format";
import { Refused } from "@/ui/refused";
import { CURVE_PX, drawCurve, spotsOf, strokesOf, type Spot } from "./curve";
import type { Stage } from "./stage";
import classes from "./timeline.module.css";

const NONE = "none";

/** Step or loss below the lanes, in the same time axis, where somebody wants to see it. Which one stands in the address. */
export function CurveStrip({ stage, id, isOver }: { stage: Stage; id: number; isOver: boolean }) {
  const [params, setParams] = useSearchParams();
  const names = ["step", ...(useJob(id, metricNames).data ?? [])];
  const chosen = params.get("curve");
  const choose = (value: string) =>
    setParams(
      (held) => {
        if (value === NONE) held.delete("curve");
        else held.set("curve", value);
        return held;
      },
      { replace: true },
    );
  return (
    <div className={classes.curve}>
      <div className={classes.beside}>
        <span className="quiet small" id="curve-of">
          curve
        </span>
        <SegmentedControl
          size="xs"
          aria-labelledby="curve-of"
          value={chosen ?? NONE}
          onChange={choose}
          data={[NONE, ...names].map((name) => ({ value: name, label: name }))}
        />
      </div>
      {chosen !== null && <Curve stage={stage} id={id} name={chosen} isOver={isOver} />}
    </div>
  );
}

function metricNames(job: JobOut): string[] {
  return Object.keys(job.metrics);
}

function Curve({ stage, id, name, isOver }: { stage: Stage; id: number; name: string; isOver: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const curve = useCurve(id, true, isOver);
  const told = curve.data;
  const spots = useMemo(() => spotsOf(told?.items ?? [], name), [told, name]);
  const strokes = useMemo(() => strokesOf(spots, (told?.every_s ?? 0) * 1000), [spots, told]);
  useEffect(
    () => stage.drawBeside((view, palette) => canvas.current !== null && drawCurve(canvas.current, palette, view, strokes)),
    [stage, strokes],
  );
  if (told === undefined && curve.error !== null) {
    return <Refused error={curve.error} tried={`It was asked how ${name} went.`} retry={curve.refetch} />;
  }
  if (told === undefined) return <p className="quiet small">Asking the hub how {name} went …</p>;
  if (spots.length === 0) return <p className="quiet small">Nothing has been reported of {name}.</p>;
  return <canvas ref={canvas} role="img" aria-label={inWords(name, spots)} style={{ height: CURVE_PX }} />;
}

function inWords(name: string, spots: readonly Spot[]): string {
  const values = spots.map((spot) => spot.value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${name} between ${formatMetric(least)} and ${formatMetric(most)}, at last ${formatMetric(values.at(-1) ?? 0)}`;
}

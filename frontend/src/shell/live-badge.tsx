import { useLiveStatus } from "@/api";
import { formatClock } from "@/lib/format";
import { NODE_STATES } from "@/lib/states";
import { StateShape } from "@/ui/state-shape";
import { never } from "@/lib/never";
import classes from "./live-badge.module.css";

/** Says whether what is on the page is so now, and if not, since when and why. */
export function LiveBadge() {
  const status = useLiveStatus();
  switch (status.kind) {
    case "connecting":
      return <span className={classes.badge}>connecting</span>;
    case "live":
      return (
        <span className={classes.badge} data-kind="live" title="Age of the hub's last turn of taking in what nodes report">
          <StateShape shape={NODE_STATES.online.shape} />
          live
          <span className={classes.age}>
            {status.ingestAgeS === null ? "" : ` · ${Math.min(status.ingestAgeS, 9.9).toFixed(1)} s`}
          </span>
        </span>
      );
    case "stale":
      return (
        <span className={classes.badge} data-kind="stale" role="status" title={status.why}>
          <StateShape shape="question" />
          not live since {formatClock(status.since)}
        </span>
      );
    default:
      return never(status);
  }
}

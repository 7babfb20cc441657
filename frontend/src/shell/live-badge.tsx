import { useLiveStatus } from "@/api";
import { formatAge, formatClock } from "@/lib/format";
import { serverNow } from "@/lib/clock";
import { NODE_STATES } from "@/lib/states";
import { StateShape } from "@/ui/state-shape";
import { useTicking } from "@/ui/use-tick";
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
          <span>
            not live since {formatClock(status.since)}
            <Since at={status.since} />
          </span>
        </span>
      );
    default:
      return never(status);
  }
}

/** The age of all that is shown. Apart from the badge, so that a reader of the screen is not told each second. */
function Since({ at }: { at: number }) {
  const age = useTicking(() => formatAge((serverNow() - at) / 1000));
  return (
    <span className={classes.since} aria-hidden="true">
      · {age}
    </span>
  );
}

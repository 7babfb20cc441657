import classes from "./slot-bar.module.css";

/** Worker slots of a node: used of all, with a small bar. */
export function SlotBar({ slots, free }: { slots: number; free: number }) {
  const used = slots - free;
  return (
    <span className={classes.slots}>
      <span className={classes.bar} aria-hidden="true">
        <span style={{ width: `${slots === 0 ? 0 : (100 * used) / slots}%` }} />
      </span>
      {used} of {slots}
    </span>
  );
}

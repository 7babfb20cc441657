import classes from "./nodes-page.module.css";

const MOST = 16;

/** A worker slot is a small block, filled when a job holds it; many are a number alone. */
export function SlotsBar({ slots, free }: { slots: number; free: number }) {
  const used = slots - free;
  return (
    <span className={classes.slots} title={`${used} of ${slots} worker slots are held, ${free} are free.`}>
      {slots <= MOST && (
        <span className={classes.blocks} aria-hidden>
          {Array.from({ length: slots }, (_, i) => (
            <i key={i} data-used={i < used} />
          ))}
        </span>
      )}
      <span>
        {free} <span className={classes.wide}>of {slots}</span> free
      </span>
    </span>
  );
}

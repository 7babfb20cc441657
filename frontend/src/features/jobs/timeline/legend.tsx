import { PHASES } from "@/lib/states";
import classes from "./timeline.module.css";

const SHOWN = ["rendezvous", "starting", "up", "restarting", "finishing"] as const;
const MARKS = [
  { word: "failure", tone: "red", path: "M-4-4L4 4M4-4L-4 4" },
  { word: "killed by hand", tone: "ink", path: "M1-6L-3 1H0L-1 6L3-1H0Z", filled: true },
  { word: "checkpoint", tone: "ink", path: "M3.5 0A3.5 3.5 0 1 1-3.5 0A3.5 3.5 0 1 1 3.5 0" },
  { word: "joined", tone: "ink", path: "M-4 0H4M0-4V4" },
  { word: "resumed", tone: "ink", path: "M-3-4L4 0L-3 4Z" },
];

/** What the colours and marks of the timeline mean. */
export function Legend() {
  return (
    <ul className={classes.legend} aria-label="Legend">
      {SHOWN.map((phase) => {
        const { tone, fill, meaning } = PHASES[phase];
        return (
          <li key={phase}>
            <i style={{ background: `var(--${tone}${fill === "solid" ? "" : "-pale"})` }} />
            {meaning}
          </li>
        );
      })}
      {MARKS.map(({ word, tone, path, filled }) => (
        <li key={word}>
          <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
            <path d={path} stroke={`var(--${tone})`} strokeWidth="1.5" fill={filled ? `var(--${tone})` : "none"} />
          </svg>
          {word}
        </li>
      ))}
    </ul>
  );
}

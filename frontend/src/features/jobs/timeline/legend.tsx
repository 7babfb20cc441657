import { memo } from "react";
import { WORKER_STATES, type WorkerState } from "@/lib/states";
import { lookNamed, type LookName } from "./looks";
import { MARKS, type MarkKind } from "./marks";
import classes from "./timeline.module.css";

const OF_NODES = ["rendezvous", "starting", "up", "restarting", "finishing", "unheard"] as const satisfies LookName[];
const OF_RANKS = Object.keys(WORKER_STATES) as WorkerState[];
const MARK_KINDS: readonly MarkKind[] = ["failure", "stall", "kill", "fault", "checkpoint", "resumed", "join", "leave"];

/** What the colours and marks of the timeline mean. */
export const Legend = memo(function Legend({ hasRanks }: { hasRanks: boolean }) {
  return (
    <ul className={classes.legend} aria-label="Legend">
      {OF_NODES.map((name) => (
        <Bar key={name} name={name} text={name === "unheard" ? "not heard" : lookNamed(name).meaning} />
      ))}
      {MARK_KINDS.map((kind) => (
        <Mark key={kind} kind={kind} />
      ))}
      {hasRanks && OF_RANKS.map((name) => <Bar key={name} name={name} text={`worker ${lookNamed(name).word}`} />)}
    </ul>
  );
});

function Bar({ name, text }: { name: LookName; text: string }) {
  const { tone, fill } = lookNamed(name);
  const colours = { "--tone": `var(--${tone})`, "--tone-pale": `var(--${tone}-pale)` } as Record<string, string>;
  return (
    <li>
      <i data-fill={fill} style={colours} />
      {text}
    </li>
  );
}

function Mark({ kind }: { kind: MarkKind }) {
  const { word, tone, path, filled } = MARKS[kind];
  return (
    <li>
      <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
        <path d={path} stroke={`var(--${tone})`} strokeWidth={tone === "red" ? 2.5 : 1.5} fill={filled ? `var(--${tone})` : "none"} />
      </svg>
      {word}
    </li>
  );
}

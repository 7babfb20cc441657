import { memo } from "react";
import type { Look } from "@/lib/states";
import { StateShape } from "./state-shape";
import classes from "./state-word.module.css";

/** A state as word, shape and colour; the meaning is its title. */
export const StateWord = memo(function StateWord({ word, look, large }: { word: string; look: Look; large?: boolean }) {
  return (
    <span
      className={classes["state"]}
      data-striped={look.striped}
      data-large={large}
      style={{ color: `var(--${look.tone})` }}
      title={look.meaning}
    >
      <StateShape shape={look.shape} size={large ? 20 : 12} />
      <span>{word}</span>
    </span>
  );
});

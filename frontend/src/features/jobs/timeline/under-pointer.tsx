import { useSyncExternalStore } from "react";
import type { Picture } from "./picture";
import type { Stage } from "./stage";
import { wordsAt } from "./under";
import classes from "./timeline.module.css";

/** What is under the pointer, beside it. It alone is rendered when the pointer moves. */
export function UnderPointer({ stage, picture }: { stage: Stage; picture: Picture }) {
  const at = useSyncExternalStore(stage.onPoint, stage.pointsAt);
  if (at === null) return null;
  const view = stage.view;
  const words = wordsAt({ picture, view, now: stage.now, scrolled: stage.scrolledBy }, at.x, at.y);
  if (words.length === 0) return null;
  const side = at.x > view.width / 2 ? { right: view.width - at.x + 12 } : { left: at.x + 12 };
  return (
    <div className={classes.tip} style={{ ...side, top: at.y + 12 }}>
      {words.map((line, index) => (
        <div key={index}>{line}</div>
      ))}
    </div>
  );
}

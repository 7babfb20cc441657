import type { StackGroupOut, ThreadOut } from "@/api";
import { doing, frameText, ranksOf, threadName } from "./stack-words";
import classes from "./stacks-tab.module.css";

/** Ranks that stand at the same place, those first that hold up the others. Each opens to its frames. */
export function StackGroups({ groups }: { groups: StackGroupOut[] }) {
  return (
    <ul className={classes.groups} aria-label="Ranks by where they stand">
      {groups.map((group) => (
        <li key={`${group.ranks[0]} ${group.place}`} data-stands-out={group.stands_out || undefined}>
          <details open={group.stands_out || groups.length <= 2}>
            <summary>
              <strong>{ranksOf(group.ranks)}</strong> <span className="mono">{group.place}</span>{" "}
              <span className="quiet small">{doing(group)}</span>
            </summary>
            {group.threads.map((thread, index) => (
              <Thread key={index} thread={thread} index={index} />
            ))}
          </details>
        </li>
      ))}
    </ul>
  );
}

function Thread({ thread, index }: { thread: ThreadOut; index: number }) {
  return (
    <div className={classes.thread}>
      <span className="quiet small">{threadName(thread, index)}</span>
      <ol className={classes.frames}>
        {thread.frames.map((frame, at) => (
          <li key={at}>{frameText(frame)}</li>
        ))}
      </ol>
    </div>
  );
}

import { Kbd } from "@mantine/core";
import { Dialog } from "@/ui/dialog";
import classes from "./keys-help.module.css";
import { PALETTE_KEYS } from "./palette-keys";

const SECTIONS: [string, [string[], string][]][] = [
  [
    "Everywhere",
    [
      [PALETTE_KEYS, "command palette: go to a job, a node or a page, or do something"],
      [["/"], "search in the list: jobs, nodes, workers"],
      [["g", "j"], "go to the jobs"],
      [["g", "n"], "go to the nodes"],
      [["?"], "this list"],
      [["Esc"], "close what is open"],
    ],
  ],
  [
    "On the page of a job",
    [
      [["f"], "follow: the newest part of timeline and log"],
      [["k"], "kill the selected worker (asks first)"],
      [["↑", "↓"], "in the workers: select the one above, the one below"],
      [["Home", "End"], "in the workers: select the first, the last"],
    ],
  ],
  [
    "In the grid of workers, once it has the focus",
    [
      [["←", "→", "↑", "↓"], "go to the cell beside, above, below"],
      [["Home", "End"], "go to the first cell, the last cell"],
      [["Enter"], "select the worker"],
      [["Space"], "pick the worker for a fault, or no longer"],
    ],
  ],
  [
    "In the timeline, once it has the focus",
    [
      [["←", "→"], "select the round before, the round after"],
      [["↑", "↓"], "choose the lane above, the lane below"],
      [["Enter"], "open the card of the round, or the lane"],
      [["+", "−"], "show a shorter time, a longer time"],
      [["Shift", "← →"], "move to earlier, to later"],
      [["0"], "show all of it"],
      [["f"], "follow again"],
      [["Esc"], "let go of the round"],
    ],
  ],
];

/** What each key does. They do nothing while somebody types or a dialog is open. */
export function KeysHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Keys" size={560}>
      {SECTIONS.map(([title, keys]) => (
        <section key={title} className={classes.section}>
          <h3>{title}</h3>
          <dl className={classes.keys}>
            {keys.map(([names, does]) => (
              <div key={does}>
                <dt>
                  {names.map((name) => (
                    <Kbd key={name}>{name}</Kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p className="quiet small">Letters and signs do nothing of this while you type or while a dialog is open.</p>
    </Dialog>
  );
}

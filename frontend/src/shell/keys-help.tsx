import { Kbd, Modal } from "@mantine/core";
import classes from "./keys-help.module.css";

const KEYS: [string[], string][] = [
  [["/"], "search"],
  [["g", "j"], "go to the jobs"],
  [["g", "n"], "go to the nodes"],
  [["f"], "follow: the newest part of timeline and log"],
  [["k"], "kill the selected worker (asks first)"],
  [["←", "→"], "in the timeline: the round before, the round after"],
  [["?"], "this list"],
];

export function KeysHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys">
      <dl className={classes.keys}>
        {KEYS.map(([names, does]) => (
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
    </Modal>
  );
}

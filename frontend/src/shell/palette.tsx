import { Kbd, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useEffect, useId, useState, type KeyboardEvent } from "react";
import { useFoundJobs, useTopic } from "@/api";
import { plural } from "@/lib/format";
import type { Act } from "@/ui/acts";
import { Dialog } from "@/ui/dialog";
import { Refused } from "@/ui/refused";
import { sectionsFor, type Section } from "./palette-sections";
import { readRecent } from "./recent";
import { useSections } from "./use-sections";
import classes from "./palette.module.css";

interface Props {
  /** What can be done on every page. */
  everywhere: Section[];
  onChoose: (act: Act) => void;
  onClose: () => void;
}

/** Goes anywhere and does what the page offers, by keyboard: a text field over the list of what it finds. */
export function Palette({ everywhere, onChoose, onClose }: Props) {
  useTopic("nodes");
  const [text, setText] = useState("");
  const [asked] = useDebouncedValue(text.trim(), 150);
  const [recent] = useState(readRecent);
  const [chosenId, setChosenId] = useState<string | null>(null);
  const list = useId();
  const jobs = useFoundJobs(asked);
  const sections = sectionsFor(useSections(jobs.data ?? [], everywhere), text, recent);
  const acts = sections.flatMap((section) => section.acts);
  // By its id, so that a row that comes or goes elsewhere does not move the choice.
  const chosen = Math.max(0, acts.findIndex((act) => act.id === chosenId));
  const optionOf = (act: Act | undefined) => (act === undefined ? undefined : `${list}${act.id}`);
  const current = optionOf(acts[chosen]);
  useEffect(() => {
    if (current !== undefined) document.getElementById(current)?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const press = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    const act = acts[step === undefined ? chosen : (chosen + step + acts.length) % acts.length];
    if (act === undefined || (step === undefined && (event.key !== "Enter" || event.nativeEvent.isComposing))) return;
    event.preventDefault();
    if (step === undefined) onChoose(act);
    else setChosenId(act.id);
  };
  return (
    <Dialog
      title="Command palette"
      onClose={onClose}
      size={640}
      withCloseButton={false}
      classNames={{ header: classes.header, body: classes.body }}
    >
      <TextInput
        data-autofocus
        role="combobox"
        aria-label="Find a job, a node, a page or an act"
        aria-expanded
        aria-autocomplete="list"
        aria-controls={list}
        aria-activedescendant={current}
        autoComplete="off"
        spellCheck={false}
        placeholder="A job, a node, a page, or what to do"
        value={text}
        onKeyDown={press}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setChosenId(null);
        }}
      />
      <div id={list} role="listbox" aria-label="Found" className={classes.list}>
        {sections.map(({ title, acts: own }) => (
          <div key={title} role="group" aria-label={title}>
            <div className={classes.title} aria-hidden="true">
              {title}
            </div>
            {own.map((act) => (
              <Option
                key={act.id}
                id={optionOf(act) as string}
                act={act}
                isChosen={act === acts[chosen]}
                onPoint={() => setChosenId(act.id)}
                onChoose={() => onChoose(act)}
              />
            ))}
          </div>
        ))}
      </div>
      {jobs.error !== null && <Refused error={jobs.error} tried="The jobs were asked for." />}
      <p role="status" className={acts.length === 0 ? classes.none : "visually-hidden"}>
        {acts.length > 0 ? `${plural(acts.length, "entry", "entries")}.` : saysNothing(text, jobs.isFetching || asked !== text.trim())}
      </p>
    </Dialog>
  );
}

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

function saysNothing(text: string, isAsking: boolean): string {
  return isAsking ? "Asking the hub …" : `No job, node, page or act has “${text.trim()}” in its name.`;
}

interface OptionProps {
  id: string;
  act: Act;
  isChosen: boolean;
  onPoint: () => void;
  onChoose: () => void;
}

function Option({ id, act, isChosen, onPoint, onChoose }: OptionProps) {
  return (
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      className={classes.option}
      onMouseMove={isChosen ? undefined : onPoint}
      // The focus stays in the text field.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <span className={classes.says}>{act.says}</span>
      {act.note !== undefined && <span className={classes.note}>{act.note}</span>}
      {act.keyName !== undefined && <Kbd className={classes.key}>{act.keyName}</Kbd>}
    </div>
  );
}

import { Textarea } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { useParsed, type ParsedOut, type RemarkOut, type SpecIn } from "@/api";
import { Refused } from "@/ui/refused";
import { piecesOf } from "./marked-command";
import classes from "./launch.module.css";

/** Takes a torchrun line, has the form filled with it, and shows what is wrong with it at its place. */
export function PasteBox({ onSpec }: { onSpec: (spec: SpecIn, name: string) => void }) {
  const [command, setCommand] = useState("");
  const [asked] = useDebouncedValue(command, 300);
  const parsed = useParsed(asked);
  useFilled(asked, parsed.data, onSpec);
  const said = command.trim() === "" ? undefined : parsed.data;
  return (
    <div>
      <Textarea
        label="Paste a torchrun command"
        description="with its variables, wrappers and line breaks: the form below is filled with it"
        placeholder="torchrun --nnodes 2 --nproc-per-node 8 /path/train.py --lr 1e-3"
        autosize
        minRows={1}
        maxRows={8}
        spellCheck={false}
        classNames={{ input: "mono" }}
        value={command}
        onChange={(event) => setCommand(event.currentTarget.value)}
      />
      {parsed.error !== null && <Refused error={parsed.error} tried="The command was to be read." retry={parsed.refetch} />}
      {said !== undefined && <Said command={asked} parsed={said} />}
    </div>
  );
}

/** Each answer fills the form once; what is typed into the form afterwards stays. */
function useFilled(command: string, parsed: ParsedOut | undefined, fill: (spec: SpecIn, name: string) => void): void {
  const filled = useRef("");
  useEffect(() => {
    if (parsed === undefined || filled.current === command) return;
    filled.current = command;
    if (parsed.spec.script || parsed.spec.module) fill(parsed.spec, parsed.name);
  });
}

function Said({ command, parsed }: { command: string; parsed: ParsedOut }) {
  const { problems, stripped } = parsed;
  return (
    <div role="status" data-testid="parsed">
      {problems.length + stripped.length > 0 && <Marked command={command} parsed={parsed} />}
      {problems.length === 0 && <p className="quiet small">The form is filled with this command.</p>}
      <Remarks remarks={problems} title="To be mended" />
      <Remarks remarks={stripped} title="Left out or settled" />
    </div>
  );
}

function Marked({ command, parsed }: { command: string; parsed: ParsedOut }) {
  return (
    <pre className={`${classes.command} mono small`} role="group" aria-label="The command with what was found" tabIndex={0}>
      {piecesOf(command, parsed.problems, parsed.stripped).map(({ text, mark }, i) => {
        if (mark === "problem") return <mark key={i} className={classes.problem}>{text}</mark>;
        return mark === "stripped" ? <span key={i} className={classes.stripped}>{text}</span> : <span key={i}>{text}</span>;
      })}
    </pre>
  );
}

function Remarks({ remarks, title }: { remarks: RemarkOut[]; title: string }) {
  if (remarks.length === 0) return null;
  return (
    <section aria-label={title} className="small">
      <strong>{title}</strong>
      <ul className={classes.remarks}>
        {remarks.map(({ flag, position, message }) => (
          <li key={`${position} ${flag} ${message}`}>
            {flag !== "" && <code className="mono">{flag}</code>}
            {message}
          </li>
        ))}
      </ul>
    </section>
  );
}

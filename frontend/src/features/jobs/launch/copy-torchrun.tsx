import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useWriteTorchrun, type JobIn, type TorchrunOut } from "@/api";
import { Refused } from "@/ui/refused";
import classes from "./launch.module.css";

/** The form as a torchrun line: copied, shown, and with what such a line cannot say. */
export function CopyTorchrun({ spec }: { spec: () => JobIn | null }) {
  const write = useWriteTorchrun();
  // Where the browser lets no page copy, the line stands below all the same.
  const clipboard = useClipboard();
  const copy = () => {
    const asked = spec();
    if (asked !== null) write.mutate(asked, { onSuccess: ({ command }) => clipboard.copy(command) });
  };
  return (
    <div className={classes.copied}>
      <Button variant="default" onClick={copy} loading={write.isPending}>
        {clipboard.copied ? "Copied" : "Copy as torchrun"}
      </Button>
      {write.error !== null && <Refused error={write.error} tried="The torchrun line was to be written." />}
      {write.data !== undefined && <Line written={write.data} />}
    </div>
  );
}

export function Line({ written }: { written: TorchrunOut }) {
  return (
    <div>
      <pre className={`${classes.command} mono small`} role="group" aria-label="The torchrun line" tabIndex={0}>
        {written.command}
      </pre>
      {written.notes.map((note) => (
        <p key={note} className="quiet small">
          {note}
        </p>
      ))}
    </div>
  );
}

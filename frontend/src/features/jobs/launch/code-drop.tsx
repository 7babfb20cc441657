import { Button, Progress } from "@mantine/core";
import { useEffect, useRef, useState, type DragEvent } from "react";
import { useUpload, type UploadOut } from "@/api";
import { plural } from "@/lib/format";
import { Refused } from "@/ui/refused";
import { chosen, dropped, LIMITS, tooLarge, type Picked } from "./dropped-code";
import classes from "./code-drop.module.css";

/** Takes a script, a zip or a folder, by a drop or a choice, and sends it to the hub. */
export function CodeDrop({ onUploaded }: { onUploaded: (code: UploadOut) => void }) {
  const sending = useSending(onUploaded);
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void dropped(event.dataTransfer).then(sending.start, sending.fail);
  };
  return (
    <section
      className={classes.drop}
      aria-label="Upload code"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className={classes.choices}>
        <span>Drop a script, a zip or a folder here, or</span>
        <Choice label="choose a file" onChoice={(files) => sending.start(chosen(files))} />
        <Choice label="choose a folder" isFolder onChoice={(files) => sending.start(chosen(files))} />
      </div>
      <p className="quiet small" role="status">{sending.said}</p>
      <div className={classes.progress}>
        {sending.part !== null && (
          <>
            <Progress value={sending.part * 100} aria-label="How much of the upload has been sent" flex={1} />
            <Button size="compact-xs" variant="default" onClick={sending.stop}>
              Break off
            </Button>
          </>
        )}
      </div>
      {sending.error !== null && <Refused error={sending.error} tried="The code was not uploaded." />}
    </section>
  );
}

function useSending(onUploaded: (code: UploadOut) => void) {
  const upload = useUpload();
  const [part, setPart] = useState<number | null>(null);
  const [said, setSaid] = useState(LIMITS);
  const [unreadable, setUnreadable] = useState<Error | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const start = (picked: Picked | null) => {
    stop.current?.abort();
    setUnreadable(null);
    if (picked === null) return setSaid("There was no file in it that can be sent.");
    const { code, leftOut } = picked;
    const problem = tooLarge(code);
    if (problem !== null) {
      upload.reset();
      setUnreadable(problem);
      return setSaid(LIMITS);
    }
    const mine = (stop.current = new AbortController());
    const isMine = () => stop.current === mine;
    setPart(0);
    setSaid(`Sending ${code.name}, ${plural(code.files.length, "file")} …`);
    upload.mutate(
      { code, onProgress: (sent) => isMine() && setPart(sent), signal: mine.signal },
      {
        onSuccess: (out) => {
          onUploaded(out);
          setSaid(`${code.name} is uploaded.${without(leftOut + out.left_out)}`);
        },
        onError: (error) => setSaid(isBrokenOff(error) ? "The upload was broken off." : LIMITS),
        onSettled: () => isMine() && setPart(null),
      },
    );
  };
  const error = unreadable ?? (isBrokenOff(upload.error) ? null : upload.error);
  return { start, stop: () => stop.current?.abort(), fail: setUnreadable, part, said, error };
}

function without(count: number): string {
  return count === 0 ? "" : ` ${plural(count, "file")} of .git, __pycache__ and the like stayed behind.`;
}

function isBrokenOff(error: Error | null): boolean {
  return error !== null && error.name === "AbortError";
}

interface ChoiceProps {
  label: string;
  isFolder?: boolean;
  onChoice: (files: File[]) => void;
}

function Choice({ label, isFolder = false, onChoice }: ChoiceProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={label}
        webkitdirectory={isFolder ? "" : undefined}
        onChange={(event) => {
          onChoice([...(event.currentTarget.files ?? [])]);
          // The same file, changed, may be chosen once more.
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

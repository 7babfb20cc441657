import { useDebouncedValue } from "@mantine/hooks";
import { useMemo } from "react";
import { useCheck, type CheckedOut } from "@/api";
import { Notice } from "@/ui/notice";
import { Refused } from "@/ui/refused";
import type { Draft } from "../launch-draft";
import { readable } from "./readable";
import { Settings } from "./settings";
import classes from "./launch.module.css";

/** What the form means as one types: the sentence, what is wrong, what practice warns of, and what will hold. */
export function LaunchCheck({ draft }: { draft: Draft }) {
  const spec = useMemo(() => readable(draft), [draft]);
  const [asked] = useDebouncedValue(spec, 250);
  const check = useCheck(asked);
  return (
    <>
      <p className={classes.sentence} data-testid="launch-sentence" aria-live="polite">
        {check.data?.sentence ?? ""}
      </p>
      {check.error !== null && <Refused error={check.error} tried="The form was to be looked over." retry={check.refetch} />}
      {check.data !== undefined && <Found check={check.data} />}
    </>
  );
}

function Found({ check }: { check: CheckedOut }) {
  const faults = check.faults.filter(({ message }) => message !== check.sentence);
  return (
    <>
      {faults.map(({ where, message, what_to_do }) => (
        <Notice key={where + message} tone="grey">
          <strong>{where}</strong>: {message} {what_to_do}
        </Notice>
      ))}
      {check.warnings.length > 0 && (
        <section className={classes.warnings} aria-label="Warnings">
          {check.warnings.map(({ field, message, what_to_do }) => (
            <Notice key={message} tone="amber">
              <strong>{field}</strong>: {message} {what_to_do}
            </Notice>
          ))}
        </section>
      )}
      {check.effective.length > 0 && <Settings settings={check.effective} />}
    </>
  );
}

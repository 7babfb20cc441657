import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState, type FormEvent, type ReactNode } from "react";
import { Dialog } from "./dialog";
import { Refused } from "./refused";

/** As much of a change as the dialog needs to know. */
interface Asked {
  error: Error | null;
  isPending: boolean;
  isSuccess: boolean;
}

interface Props {
  /** What the button does; also the title. */
  act: string;
  /** What will happen, before it is done. */
  forecast: ReactNode;
  asked: Asked;
  onAct: (reason: string) => void;
  /** What was not done, as the beginning of a refusal. */
  tried: string;
  onClose: () => void;
  /** It ends something. */
  isDanger?: boolean;
  takesReason?: boolean;
  isDisabled?: boolean;
  /** What is seen to happen once it is asked for, in place of the question. */
  children?: ReactNode;
  /** Buttons beside Close. */
  further?: ReactNode;
}

/** Asks once with what will happen, takes a reason, and shows in the same place how it goes. */
export function ActDialog({ act, onClose, onAct, ...props }: Props) {
  const { asked, takesReason = true, isDanger = false, isDisabled = false } = props;
  const [reason, setReason] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAct(reason);
  };
  return (
    <Dialog onClose={onClose} title={act} size="lg">
      <form onSubmit={submit}>
        <Stack>
          {!asked.isSuccess && props.forecast}
          {!asked.isSuccess && takesReason && <Reason value={reason} onChange={setReason} />}
          {asked.error !== null && <Refused error={asked.error} tried={props.tried} />}
          {asked.isSuccess && props.children}
          <Group justify="flex-end">
            {asked.isSuccess && props.further}
            <Button variant="default" onClick={onClose}>
              {asked.isSuccess ? "Close" : "Cancel"}
            </Button>
            {!asked.isSuccess && (
              <Button type="submit" loading={asked.isPending} disabled={isDisabled} {...(isDanger && { color: "red.9" })}>
                {act}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

function Reason({ value, onChange }: { value: string; onChange: (reason: string) => void }) {
  return (
    <TextInput
      label="Reason"
      description="Kept with your name in the history."
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data-autofocus
    />
  );
}

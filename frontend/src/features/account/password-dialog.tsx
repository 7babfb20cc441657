import { Button, Group, Modal, PasswordInput, Stack } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { Refusal, useChangePassword } from "@/api";
import { Notice } from "@/ui/notice";
import { Refused } from "@/ui/refused";

export function PasswordDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [current, setCurrent] = useState("");
  const [wanted, setWanted] = useState("");
  const change = useChangePassword();
  const faults = change.error instanceof Refusal ? change.error.answer.faults : [];
  const faultAt = (where: string) => faults.find((fault) => fault.where === where)?.message;
  const close = () => {
    setCurrent("");
    setWanted("");
    change.reset();
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate({ current, new: wanted });
  };
  return (
    <Modal opened={opened} onClose={close} title="Change password">
      {change.isSuccess ? (
        <Notice tone="green">The password is changed. Other sessions of this account have ended.</Notice>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <PasswordInput
              label="Current password"
              autoComplete="current-password"
              value={current}
              error={faultAt("current")}
              aria-invalid={faultAt("current") !== undefined}
              onChange={(event) => setCurrent(event.currentTarget.value)}
              data-autofocus
            />
            <PasswordInput
              label="New password"
              autoComplete="new-password"
              value={wanted}
              error={faultAt("new")}
              aria-invalid={faultAt("new") !== undefined}
              onChange={(event) => setWanted(event.currentTarget.value)}
            />
            {change.error !== null && faults.length === 0 && <Refused error={change.error} />}
            <Group justify="flex-end">
              <Button type="submit" loading={change.isPending} disabled={!current || !wanted}>
                Change password
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}

import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Notice } from "./notice";

interface Props {
  error: Error;
  tried?: string;
  /** Asks once more. */
  retry?: () => unknown;
  children?: ReactNode;
}

/** An error in the words of whoever refused. */
export function Refused({ error, tried, retry, children }: Props) {
  const said = "sentence" in error && typeof error.sentence === "string" ? error.sentence : error.message;
  return (
    <Notice>
      {tried !== undefined && <>{tried} </>}
      {said} {children}
      {retry !== undefined && (
        <Button size="compact-xs" variant="default" onClick={() => void retry()}>
          Try again
        </Button>
      )}
    </Notice>
  );
}

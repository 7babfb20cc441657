import type { ReactNode } from "react";
import { Notice } from "./notice";

/** An error in the words of whoever refused. */
export function Refused({ error, tried, children }: { error: Error; tried?: string; children?: ReactNode }) {
  const said = "sentence" in error && typeof error.sentence === "string" ? error.sentence : error.message;
  return (
    <Notice>
      {tried !== undefined && <>{tried} </>}
      {said} {children}
    </Notice>
  );
}

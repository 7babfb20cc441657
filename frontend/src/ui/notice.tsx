import type { ReactNode } from "react";
import classes from "./notice.module.css";

/** Something that went otherwise than asked, in whole sentences. */
export function Notice({ tone = "red", children }: { tone?: "red" | "amber" | "grey" | "green"; children: ReactNode }) {
  return (
    <div className={classes["notice"]} role={tone === "red" ? "alert" : "status"} style={{ borderColor: `var(--${tone})` }}>
      {children}
    </div>
  );
}

import type { ReactNode } from "react";
import classes from "./empty.module.css";

/** A page or a list with nothing in it yet: what will be here, and the one action that fills it. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes["empty"]}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

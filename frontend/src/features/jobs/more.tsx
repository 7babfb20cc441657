import type { ReactNode } from "react";
import { Popover, UnstyledButton } from "@mantine/core";
import classes from "./more.module.css";

/** What stands behind a word of the page. Escape closes it and gives the focus back. */
export function More({ word, children }: { word: string; children: ReactNode }) {
  return (
    <Popover position="bottom-start" width="min(640px, 94vw)" transitionProps={{ duration: 0 }} trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton className={classes.open}>
          {word} <span aria-hidden="true">▾</span>
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>{children}</Popover.Dropdown>
    </Popover>
  );
}

/** Rows of three: when, what in a word, and the sentence. */
export function MoreList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ol className={classes.list} tabIndex={0} aria-label={label}>
      {children}
    </ol>
  );
}

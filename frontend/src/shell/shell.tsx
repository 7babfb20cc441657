import { Kbd, UnstyledButton } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { flushSync } from "react-dom";
import { Link, useLocation } from "wouter";
import { useStaleSince } from "@/api";
import type { Act } from "@/ui/acts";
import { isSomethingOpen, useKeys } from "@/ui/use-keys";
import { KeysHelp } from "./keys-help";
import { LiveBadge } from "./live-badge";
import { NewerPage } from "./newer-page";
import { Palette } from "./palette";
import { PALETTE_KEYS } from "./palette-keys";
import { remember } from "./recent";
import { RunningFaults } from "./running-faults";
import { useEverywhere } from "./use-sections";
import classes from "./shell.module.css";

/** The frame around every page: where one can go, whether what is seen is live, and who one is. */
export function Shell({ account, children }: { account: ReactNode; children: ReactNode }) {
  const [path, go] = useLocation();
  const [open, setOpen] = useState<"palette" | "keys" | null>(null);
  const everywhere = useEverywhere(() => setOpen("keys"));
  const close = () => setOpen(null);
  const choose = (act: Act) => {
    // The palette gives the focus back first: a dialog that the act opens gives it back to the same place.
    flushSync(close);
    if (!act.isDanger) remember(act.id);
    act.run();
  };
  useKeys({
    "g j": () => go("/jobs"),
    "g n": () => go("/nodes"),
    "?": () => setOpen("keys"),
  });
  useHotkeys([["mod+K", () => (isSomethingOpen() ? open === "palette" && close() : setOpen("palette"))]], []);
  useStaleMark();
  return (
    <>
      <a className={classes.skip} href="#content">
        Skip to the content
      </a>
      <header className={classes.bar}>
        <Link href="/jobs" className={classes.name}>
          Regroup
        </Link>
        <nav aria-label="Pages" className={classes.nav}>
          <Link href="/jobs" aria-current={path.startsWith("/jobs") ? "page" : undefined}>
            Jobs
          </Link>
          <Link href="/nodes" aria-current={path.startsWith("/nodes") ? "page" : undefined}>
            Nodes
          </Link>
        </nav>
        <div className={classes.end}>
          <UnstyledButton
            className={classes.find}
            aria-keyshortcuts="Control+K Meta+K"
            title="Command palette: go to a job, a node or a page, or do something"
            onClick={() => setOpen("palette")}
          >
            Find <Kbd className={classes.findKeys}>{PALETTE_KEYS.join(" ")}</Kbd>
          </UnstyledButton>
          <LiveBadge />
          {account}
        </div>
      </header>
      <Content path={path}>{children}</Content>
      <RunningFaults />
      <NewerPage />
      {open === "keys" && <KeysHelp onClose={close} />}
      {open === "palette" && <Palette everywhere={everywhere} onChoose={choose} onClose={close} />}
    </>
  );
}

/** Where the page is. After going to another page the keyboard begins at its top. */
function Content({ path, children }: { path: string; children: ReactNode }) {
  const main = useRef<HTMLElement>(null);
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    main.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [path]);
  return (
    <main id="content" ref={main} tabIndex={-1} className={classes.content}>
      {children}
    </main>
  );
}

/** Marks the document, so that the styles can grey whatever is live. */
function useStaleMark(): void {
  const isStale = useStaleSince() !== null;
  useEffect(() => {
    document.documentElement.toggleAttribute("data-stale", isStale);
    return () => document.documentElement.removeAttribute("data-stale");
  }, [isStale]);
}

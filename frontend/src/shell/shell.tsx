import { useEffect, useState, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { useLiveStatus } from "@/api";
import { useKeys } from "@/ui/use-keys";
import { KeysHelp } from "./keys-help";
import { LiveBadge } from "./live-badge";
import { NewerPage } from "./newer-page";
import classes from "./shell.module.css";

/** The frame around every page: where one can go, whether what is seen is live, and who one is. */
export function Shell({ account, children }: { account: ReactNode; children: ReactNode }) {
  const [path, go] = useLocation();
  const [isHelpOpen, setHelpOpen] = useState(false);
  useKeys({
    "g j": () => go("/jobs"),
    "g n": () => go("/nodes"),
    "?": () => setHelpOpen(true),
  });
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
          <LiveBadge />
          {account}
        </div>
      </header>
      <main id="content" className={classes.content}>
        {children}
      </main>
      <NewerPage />
      <KeysHelp opened={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </>
  );
}

/** Marks the document, so that the styles can grey whatever is live. */
function useStaleMark(): void {
  const isStale = useLiveStatus().kind === "stale";
  useEffect(() => {
    document.documentElement.toggleAttribute("data-stale", isStale);
    return () => document.documentElement.removeAttribute("data-stale");
  }, [isStale]);
}

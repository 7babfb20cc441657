import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { endDeadConnections } from "./client";
import { keys } from "./keys";
import { Live, type Socket } from "./live";
import { askAllAgain, cacheSink } from "./live-cache";
import { LiveContext } from "./use-live";

function openSocket(): Socket {
  const url = new URL("/ws/live", window.location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return new WebSocket(url);
}

/** Read once, at the start: parts that are loaded later add files of their own to the document. */
const OWN_BUILD = ownBuild();

/** Names of the page's own files, as the hub names those that it serves. Empty while `npm run dev` serves them. */
function ownBuild(): string {
  const found = [...document.querySelectorAll("script[src], link[href]")].map(
    (each) => /\/assets\/([\w.-]+)/.exec(each.getAttribute("src") ?? each.getAttribute("href") ?? "")?.[1],
  );
  return found.filter((name) => name !== undefined).sort().join(" ");
}

/** Opens the live socket once somebody is logged in. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const cache = useQueryClient();
  const [live] = useState(
    () =>
      new Live(openSocket, cacheSink(cache), {
        lost: () => void cache.invalidateQueries({ queryKey: keys.session }),
        back: (afterSilence) => void (afterSilence ? endDeadConnections() : Promise.resolve()).then(() => askAllAgain(cache)),
        build: OWN_BUILD,
      }),
  );
  useEffect(() => {
    const wake = () => document.visibilityState === "visible" && live.wake();
    live.start();
    document.addEventListener("visibilitychange", wake);
    window.addEventListener("online", wake);
    return () => {
      document.removeEventListener("visibilitychange", wake);
      window.removeEventListener("online", wake);
      live.stop();
    };
  }, [live]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

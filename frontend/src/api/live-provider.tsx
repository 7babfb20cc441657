import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { keys } from "./keys";
import { Live, type Socket } from "./live";
import { cacheSink } from "./live-cache";
import { LiveContext } from "./use-live";

function openSocket(): Socket {
  const url = new URL("/ws/live", window.location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return new WebSocket(url);
}

/** Opens the live socket once somebody is logged in. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const cache = useQueryClient();
  const [live] = useState(
    () => new Live(openSocket, cacheSink(cache), () => void cache.invalidateQueries({ queryKey: keys.session })),
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

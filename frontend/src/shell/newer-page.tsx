import { Button } from "@mantine/core";
import { useState } from "react";
import { useOutdated } from "@/api";
import classes from "./newer-page.module.css";

/** Says that the hub serves a newer page. It never reloads by itself: somebody may be typing. */
export function NewerPage() {
  const isOutdated = useOutdated();
  const [isLater, setLater] = useState(false);
  if (!isOutdated || isLater) return null;
  return (
    <div className={classes.strip} role="status">
      A newer version of this page is there. What you have typed is lost when you reload.
      <Button size="compact-xs" onClick={() => window.location.reload()}>
        Reload
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => setLater(true)}>
        Later
      </Button>
    </div>
  );
}

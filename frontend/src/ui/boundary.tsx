import { Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { Notice } from "./notice";

/** Keeps a fault of one part from taking the whole page away, and says what can be done. */
export class Boundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch(error: unknown): void {
    reportError(error);
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <Notice>
        This part of the page could not be shown: {error.message}. Nothing is done to any job by that. If a newer version
        of the page was installed since, loading it again is enough.{" "}
        <Button size="compact-xs" variant="default" onClick={() => window.location.reload()}>
          Load the page again
        </Button>
      </Notice>
    );
  }
}

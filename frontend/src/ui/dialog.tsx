import { Modal, type ModalProps } from "@mantine/core";
import { useLayoutEffect } from "react";

/** A dialog that is open as long as it is rendered. What had the focus before gets it back. */
export function Dialog(props: Omit<ModalProps, "opened">) {
  useFocusBack();
  return <Modal opened returnFocus={false} {...props} />;
}

/** Modal's own way of giving the focus back needs to see it close; these are taken out of the page while open. */
function useFocusBack(): void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    return () => {
      const isThere = before instanceof HTMLElement && before.isConnected && before !== document.body;
      const place = isThere ? before : document.querySelector("main");
      place?.focus({ preventScroll: true });
    };
  }, []);
}

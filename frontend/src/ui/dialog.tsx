import { Modal, type ModalProps } from "@mantine/core";
import { useLayoutEffect } from "react";

/** A dialog that is open as long as it is rendered. What had the focus before gets it back. */
export function Dialog({ children, ...props }: Omit<ModalProps, "opened">) {
  useFocusBack();
  return (
    <Modal opened returnFocus={false} {...props}>
      {/* It may be opened from within a form: what is submitted here must not submit that too. */}
      <div onSubmit={(event) => event.stopPropagation()}>{children}</div>
    </Modal>
  );
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

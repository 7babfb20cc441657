/** What a key does on the picture. Pure. */

export type Act =
  | { does: "round"; step: -1 | 1 }
  | { does: "lane"; step: -1 | 1 }
  | { does: "pan"; share: number }
  | { does: "zoom"; factor: number }
  | { does: "all" | "open" | "let go" };

export const PAN_SHARE = 0.25;
export const ZOOM_FACTOR = 2;

interface Press {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** Undefined: the key is not the picture's. With Ctrl, Alt or Meta it is the browser's. */
export function actOf({ key, shiftKey, ctrlKey, metaKey, altKey }: Press): Act | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  switch (key) {
    case "ArrowLeft":
      return shiftKey ? { does: "pan", share: -PAN_SHARE } : { does: "round", step: -1 };
    case "ArrowRight":
      return shiftKey ? { does: "pan", share: PAN_SHARE } : { does: "round", step: 1 };
    case "ArrowUp":
      return { does: "lane", step: -1 };
    case "ArrowDown":
      return { does: "lane", step: 1 };
    case "+":
    case "=":
      return { does: "zoom", factor: ZOOM_FACTOR };
    case "-":
    case "_":
      return { does: "zoom", factor: 1 / ZOOM_FACTOR };
    case "0":
      return { does: "all" };
    case "Enter":
      return { does: "open" };
    case "Escape":
      return { does: "let go" };
    default:
      return undefined;
  }
}

/** The keys that open the command palette, as this machine's keyboard names them. */
export const PALETTE_KEYS = [/Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl", "K"];

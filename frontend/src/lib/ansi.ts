/** Terminal control sequences in logs: taken out, so that what remains is text. */

// eslint-disable-next-line no-control-regex
const SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** The text as a terminal would leave it standing: after a carriage return only what was written last. */
export function plainText(text: string): string {
  const stripped = text.replace(SEQUENCES, "");
  const shown = stripped.replace(/\r+$/, "");
  const last = shown.slice(shown.lastIndexOf("\r") + 1);
  return last.replace(CONTROLS, "");
}

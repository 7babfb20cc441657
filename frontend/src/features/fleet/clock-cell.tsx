import type { NodeOut } from "@/api";
import { clockMeaning, clockText, isClockOff } from "./clock";

/** The offset of a node's clock, with a word where it misleads. */
export function ClockCell({ node }: { node: NodeOut }) {
  return (
    <span className="num" title={clockMeaning(node)}>
      {clockText(node) ?? "–"}
      {isClockOff(node) && <strong> off</strong>}
    </span>
  );
}

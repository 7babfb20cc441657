/** How a node stands in a word: what matters most is whether it is heard, then whether it gets jobs. */
import type { NodeOut } from "@/api";
import { NODE_SET_OUT, NODE_STATES, type Look } from "@/lib/states";

type Standing = Pick<NodeOut, "state" | "draining_since" | "is_drained" | "set_aside_at">;

export function nodeWord(node: Standing): { word: string; look: Look } {
  const word = outOfUse(node);
  if (node.state !== "online" || word === null) return { word: node.state, look: NODE_STATES[node.state] };
  return { word, look: NODE_SET_OUT[word] };
}

/** In which way it gets no jobs; null: it gets them. */
export function outOfUse(node: Standing): keyof typeof NODE_SET_OUT | null {
  if (node.is_drained) return "drained";
  if (node.draining_since !== null) return "draining";
  return node.set_aside_at === null ? null : "set aside";
}

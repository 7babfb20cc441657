/** The launch form's own copy of where a job may run and when it has its turn: texts as they are typed. */
import type { JobIn } from "@/api";

type Placing = Pick<
  Required<JobIn>,
  | "priority"
  | "placement"
  | "nodes_selector"
  | "node_names"
  | "gpu_model"
  | "gpus_per_node"
  | "checkpoint_dir"
  | "checks"
>;

export interface PlacingDraft {
  priority: number | null;
  placement: Placing["placement"];
  nodes_selector: string;
  node_names: string;
  gpu_model: string;
  gpus_per_node: number | null;
  checkpoint_dir: string;
  checks: Placing["checks"];
}

export function fromPlacing(given: Partial<Placing> | null): PlacingDraft {
  return {
    priority: given?.priority || null,
    placement: given?.placement ?? "spread",
    nodes_selector: Object.entries(given?.nodes_selector ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(", "),
    node_names: (given?.node_names ?? []).join(", "),
    gpu_model: given?.gpu_model ?? "",
    gpus_per_node: given?.gpus_per_node || null,
    checkpoint_dir: given?.checkpoint_dir ?? "",
    checks: given?.checks ?? "skip",
  };
}

export function toPlacing(draft: PlacingDraft): Placing {
  return {
    priority: draft.priority ?? 0,
    placement: draft.placement,
    nodes_selector: readLabels(draft.nodes_selector),
    node_names: words(draft.node_names),
    gpu_model: draft.gpu_model.trim(),
    gpus_per_node: draft.gpus_per_node ?? 0,
    checkpoint_dir: draft.checkpoint_dir.trim() || null,
    checks: draft.checks,
  };
}

/** "disk=nvme, zone=b"; a part without "=" keeps an empty value, and no node will have it. */
function readLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    words(text).map((pair) => {
      const [key, ...value] = pair.split("=");
      return [key ?? "", value.join("=")];
    }),
  );
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word);
}

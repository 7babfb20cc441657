/** What a job has beside its spec when it is left out. */
import type { JobIn, SpecIn } from "@/api";

export const BESIDE: Omit<Required<JobIn>, keyof SpecIn> = {
  name: "",
  labels: {},
  notes: "",
  copy_of: null,
  priority: 0,
  placement: "spread",
  nodes_selector: {},
  node_names: [],
  gpu_model: "",
  gpus_per_node: 0,
  checkpoint_dir: null,
  checks: "skip",
};

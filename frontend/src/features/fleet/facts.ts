/** What a node said of itself, read with care: an older or newer agent may say less or more. */

export interface Facts {
  host: string;
  addresses: string[];
  cpus: number | null;
  memoryBytes: number | null;
  gpus: string[];
  gpuNote: string;
  torch: string | null;
  python: string;
  /** "disk=nvme, zone=b", by which jobs may ask for it. */
  labels: string;
}

export function readFacts(facts: Record<string, unknown>): Facts {
  return {
    host: text(facts["host"]),
    addresses: list(facts["addresses"]).map(String),
    cpus: number(facts["cpus"]),
    memoryBytes: number(facts["memory_bytes"]),
    gpus: list(facts["gpus"]).map(gpuName),
    gpuNote: text(facts["gpu_note"]) || "not reported",
    torch: text(facts["torch_version"]) || null,
    python: text(facts["python"]),
    labels: labelText(facts["labels"]),
  };
}

/** "2 × NVIDIA H200", or the agent's word for why there is none. */
export function gpuText({ gpus, gpuNote }: Facts): string {
  const counts = new Map<string, number>();
  for (const name of gpus) counts.set(name, (counts.get(name) ?? 0) + 1);
  if (counts.size === 0) return gpuNote;
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(", ");
}

function labelText(labels: unknown): string {
  const pairs = typeof labels === "object" && labels !== null ? Object.entries(labels) : [];
  return pairs.map(([key, value]) => `${key}=${text(value)}`).join(", ");
}

function gpuName(gpu: unknown): string {
  return typeof gpu === "object" && gpu !== null && "name" in gpu ? text(gpu.name) : "unknown GPU";
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

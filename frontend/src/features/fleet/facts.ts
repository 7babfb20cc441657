import { formatBytes } from "@/lib/format";

export interface Facts {
  host: string;
  cpus: string;
  memory: string;
  gpus: string;
  torch: string;
  python: string;
}

/** What a node reported of itself, as text. What it did not report says so. */
export function readFacts(facts: Record<string, unknown>): Facts {
  return {
    host: text(facts["host"]),
    cpus: text(facts["cpus"]),
    memory: typeof facts["memory_bytes"] === "number" ? formatBytes(facts["memory_bytes"]) : "unknown",
    gpus: gpuText(facts["gpus"], facts["gpu_note"]),
    torch: facts["torch_version"] === null ? "cannot be imported" : text(facts["torch_version"]),
    python: text(facts["python"]),
  };
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) || "unknown" : "unknown";
}

function gpuText(gpus: unknown, note: unknown): string {
  if (!Array.isArray(gpus)) return "unknown";
  if (gpus.length === 0) return typeof note === "string" && note !== "" ? note : "none";
  const names = gpus.map((gpu: unknown) => text((gpu as Record<string, unknown>)["name"]));
  const kinds = [...new Set(names)];
  return kinds.map((kind) => `${names.filter((name) => name === kind).length} × ${kind}`).join(", ");
}

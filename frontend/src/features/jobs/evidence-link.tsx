import { Link, useSearch } from "wouter";
import { roundKey } from "./evidence-words";

/** Leads to what was kept of a round; the rest of the address stays as it is. */
export function EvidenceLink({ attempt, round, children }: { attempt: number; round: number; children: string }) {
  const held = new URLSearchParams(useSearch());
  held.set("tab", "evidence");
  held.set("evidence", roundKey({ attempt, round }));
  return <Link href={`?${held.toString()}`}>{children}</Link>;
}

import type { ReactNode } from "react";
import { Link, useSearch } from "wouter";
import { linesAround, type Moment } from "./log-address";

/** Leads to what was written around a moment, or last of all in a round; the rest of the address stays as it is. */
export function LinesLink({ moment, children }: { moment: Moment; children: ReactNode }) {
  const wanted = new URLSearchParams(useSearch());
  for (const name of ["line", "at", "find"]) wanted.delete(name);
  for (const [name, value] of new URLSearchParams(linesAround(moment))) wanted.set(name, value);
  return <Link href={`?${wanted.toString()}`}>{children}</Link>;
}

/** The form as far as it can be read, and a pasted line in it. */
import type { JobIn, SpecIn } from "@/api";
import { ArgsError } from "@/lib/args";
import { splitLabels, toSpec, type Draft } from "../launch-draft";
import { toPlacing } from "./placing-draft";

/** Null while args cannot be split; the form says so when it is sent. */
export function readable(draft: Draft): JobIn | null {
  try {
    return toSpec(draft);
  } catch (error) {
    if (error instanceof ArgsError) return null;
    throw error;
  }
}

/** A pasted line says all of the spec. What is no matter of torchrun's stays as it was typed. */
export function pasted(held: Draft, spec: SpecIn, name: string): JobIn {
  return { ...held.given, ...toPlacing(held.placing), ...spec, name, labels: splitLabels(held.labels), notes: held.notes, copy_of: null };
}

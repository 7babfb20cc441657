import { TextInput } from "@mantine/core";
import { useId } from "react";
import { useNodes, useTopic } from "@/api";
import { offeredBy, type Offered } from "@/lib/environments";
import { text, type Fields } from "./launch-fields";

/** The job's interpreter: a path, or one of those that nodes offer by name. */
export function LaunchPython({ fields }: { fields: Fields }) {
  useTopic("nodes");
  const offered = offeredBy(useNodes().data?.items ?? []);
  const list = useId();
  return (
    <div>
      <TextInput label="python" description={describe(offered)} list={list} {...text(fields, "python")} />
      <datalist id={list}>
        {offered.map(({ value, says }) => (
          <option key={value} value={value} label={`${value}, on ${says}`} />
        ))}
      </datalist>
    </div>
  );
}

/** Names that are written out; the input lists them all. */
const SHOWN = 2;

function describe(offered: Offered[]): string {
  if (offered.length === 0) return "empty: the node agent's";
  const shown = offered.slice(0, SHOWN).map(({ value, says }) => `${value} (${says})`);
  const more = offered.length > SHOWN ? [`${offered.length - SHOWN} more`] : [];
  return `empty: the node agent's; or ${[...shown, ...more].join(", ")}`;
}

import { TextInput } from "@mantine/core";
import { useId } from "react";
import { useNodes, useTopic } from "@/api";
import { interfaceNames } from "@/lib/interfaces";
import { text, type Fields } from "../launch-fields";

/** Over which network interface NCCL and gloo speak: one of those that the nodes have, or another word for it. */
export function LaunchInterface({ fields }: { fields: Fields }) {
  useTopic("nodes");
  const names = interfaceNames(useNodes().data?.items ?? []);
  const list = useId();
  return (
    <div>
      <TextInput
        label="interface"
        description="of NCCL and gloo: ib0, ib, 10.0.0.0/16, auto; empty: the node's address"
        list={list}
        {...text(fields, "interface")}
      />
      <datalist id={list}>
        <option value="auto" label="auto, the one with the node's address" />
        {names.map(({ value, says }) => (
          <option key={value} value={value} label={`${value}, on ${says}`} />
        ))}
      </datalist>
    </div>
  );
}

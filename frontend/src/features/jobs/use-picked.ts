import { useSearchParams } from "wouter";
import type { WorkerOut } from "@/api";
import { pickedRanks, toggled } from "./picked";

/** The workers that are picked for something done to several at once. Which they are stands in the address. */
export function usePicked(workers: WorkerOut[]) {
  const [params, setParams] = useSearchParams();
  const ranks = pickedRanks(params.get("picked"));
  const write = (value: string) =>
    setParams(
      (held) => {
        if (value === "") held.delete("picked");
        else held.set("picked", value);
        return held;
      },
      { replace: true },
    );
  return {
    ranks,
    workers: workers.filter(({ rank, state }) => ranks.has(rank) && state === "running"),
    toggle: ({ rank }: WorkerOut) => write(toggled(params.get("picked"), rank)),
    clear: () => write(""),
  };
}

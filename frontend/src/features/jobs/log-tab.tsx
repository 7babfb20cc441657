import { NativeSelect, SegmentedControl, Switch } from "@mantine/core";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { useLog, useOlderLines, type JobOut, type LogAddress, type RoundOut } from "@/api";
import { formatClock } from "@/lib/format";
import { ENDED } from "@/lib/states";
import { Refused } from "@/ui/refused";
import { useKeys } from "@/ui/use-keys";
import { LogLines } from "./log-lines";
import classes from "./log-tab.module.css";

/** The output of one worker of one round. Which one stands in the address. */
export function LogTab({ job, rounds }: { job: JobOut; rounds: RoundOut[] }) {
  const [params, setParams] = useSearchParams();
  const [isFollowing, setFollowing] = useState(true);
  const of = logAddress(job, rounds, params);
  const log = useLog(of, isFollowing && !(ENDED.has(job.state) && job.round === of?.round));
  const older = useOlderLines(of);
  useKeys({ f: () => setFollowing(true) });
  const set = (values: Record<string, string>) =>
    setParams(
      (held) => {
        for (const [name, value] of Object.entries(values)) {
          if (value === "") held.delete(name);
          else held.set(name, value);
        }
        return held;
      },
      { replace: true },
    );
  if (of === null) {
    const says = ENDED.has(job.state)
      ? "No round was ever formed, so that no worker has written anything."
      : "Output will be here once the first round is formed.";
    return <p className="quiet">{says}</p>;
  }
  const worldSize = rounds.find((round) => round.attempt === of.attempt && round.number === of.round)?.world_size ?? job.world_size;
  return (
    <div>
      <div className={classes.controls}>
        <NativeSelect
          size="xs"
          aria-label="Round"
          value={params.has("round") ? `${of.attempt}.${of.round}` : ""}
          onChange={(event) => {
            const [attempt = "", round = ""] = event.currentTarget.value.split(".");
            set({ attempt, round });
          }}
          data={[{ value: "", label: "newest round" }, ...[...rounds].reverse().map(roundOption)]}
        />
        <NativeSelect
          size="xs"
          aria-label="Rank"
          value={String(of.rank)}
          onChange={(event) => set({ rank: event.currentTarget.value })}
          data={Array.from({ length: Math.max(worldSize, of.rank + 1) }, (_, rank) => ({
            value: String(rank),
            label: `rank ${rank}`,
          }))}
        />
        <SegmentedControl
          size="xs"
          aria-label="Stream"
          value={of.stream}
          onChange={(value) => set({ stream: value })}
          data={["stdout", "stderr"]}
        />
        <Switch
          size="xs"
          label="follow"
          checked={isFollowing}
          onChange={(event) => setFollowing(event.currentTarget.checked)}
        />
      </div>
      {log.error !== null && <Refused error={log.error} tried="The node was asked for lines." />}
      {log.data?.problem != null && <p className="quiet">{log.data.problem}</p>}
      <LogLines
        key={JSON.stringify(of)}
        lines={log.data?.items ?? []}
        hasOlder={log.data?.previous != null}
        loadOlder={older}
        isFollowing={isFollowing}
        onFollowing={setFollowing}
        says={log.isPending ? "Asking the node …" : `Rank ${of.rank} has written nothing to ${of.stream} in round ${of.round}.`}
      />
    </div>
  );
}

function roundOption(round: RoundOut) {
  const attempt = round.attempt === 1 ? "" : `attempt ${round.attempt}, `;
  const label = `${attempt}round ${round.number}, ${formatClock(round.formed_at)}`;
  return { value: `${round.attempt}.${round.number}`, label };
}

function logAddress(job: JobOut, rounds: RoundOut[], params: URLSearchParams): LogAddress | null {
  const newest = rounds.at(-1);
  const attempt = job.attempt ?? newest?.attempt;
  const round = job.round ?? newest?.number;
  if (attempt === undefined || round === undefined) return null;
  // Of a job that has failed, what the failed rank said last is looked for first.
  const hasFailed = job.state === "failed" && job.failure !== null;
  return {
    job: job.id,
    attempt: Number(params.get("attempt") ?? attempt),
    round: Number(params.get("round") ?? round),
    rank: Number(params.get("rank") ?? (hasFailed ? job.failure?.rank : null) ?? 0),
    stream: (params.get("stream") ?? (hasFailed ? "stderr" : "stdout")) === "stderr" ? "stderr" : "stdout",
  };
}

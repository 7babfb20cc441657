import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { useSearchParams } from "wouter";
import { linesOf, olderFrom, useLogWindow, useMoreLines, type StandingJob, type LogAddress, type LogPlace, type LogWindow, type RoundOut } from "@/api";
import { formatBytes, formatMoment } from "@/lib/format";
import { ENDED } from "@/lib/states";
import { Refused } from "@/ui/refused";
import { useKeys } from "@/ui/use-keys";
import { patternOf } from "./highlight";
import { isMerged, logAddress, logPlace } from "./log-address";
import { LogControls } from "./log-controls";
import { LogLines } from "./log-lines";
import { LogSearch } from "./log-search";
import classes from "./log-tab.module.css";
import { useHeldPlace } from "./use-held-place";

/** The output of workers of one round, of one rank or all. Which it is, and where, stands in the address. */
export function LogTab({ job, rounds }: { job: StandingJob; rounds: RoundOut[] }) {
  const [params, setParams] = useSearchParams();
  const of = logAddress(job, rounds, params);
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
  // What the tab remembers is of one log.
  return <Log key={JSON.stringify(of)} job={job} rounds={rounds} of={of} params={params} set={set} />;
}

interface Props {
  job: StandingJob;
  rounds: RoundOut[];
  of: LogAddress;
  params: URLSearchParams;
  set: (values: Record<string, string>) => void;
}

function Log({ job, rounds, of, params, set }: Props) {
  const place = logPlace(params);
  const [wantsEnd, setWantsEnd] = useState(true);
  const isFollowing = wantsEnd && place === null;
  const held = useHeldPlace(of, place);
  const mayGrow = !(ENDED.has(job.state) && job.round === of.round);
  const [pattern, isCaseSensitive] = [params.get("find") ?? "", params.get("case") === "on"];
  const marks = useMemo(() => patternOf(pattern, isCaseSensitive), [pattern, isCaseSensitive]);
  const follow = (follows: boolean) => {
    setWantsEnd(follows);
    if (follows && place !== null) set({ line: "", at: "" });
  };
  useKeys({ f: () => follow(true) });
  const round = rounds.find((one) => one.attempt === of.attempt && one.number === of.round);
  const hasTimes = (params.get("times") ?? (isMerged(of) ? "on" : "off")) === "on";
  return (
    <div>
      <LogControls
        of={of}
        rounds={rounds}
        worldSize={round?.world_size ?? job.world_size}
        isChosen={params.has("round")}
        hasTimes={hasTimes}
        isFollowing={isFollowing}
        onFollowing={follow}
        set={set}
      />
      <LogSearch of={of} pattern={pattern} isCaseSensitive={isCaseSensitive} target={params.get("line")} set={set} />
      {place !== null && <PlaceNote place={place} toEnd={() => follow(true)} />}
      <Output
        of={of}
        place={place}
        held={held}
        mayGrow={mayGrow}
        isFollowing={isFollowing}
        onFollowing={follow}
        hasTimes={hasTimes}
        pattern={marks}
        says={empty(of, job)}
      />
    </div>
  );
}

interface OutputProps {
  of: LogAddress;
  place: LogPlace;
  /** From where the lines are held. */
  held: LogPlace;
  mayGrow: boolean;
  isFollowing: boolean;
  onFollowing: (follows: boolean) => void;
  hasTimes: boolean;
  pattern: RegExp | null;
  /** What stands here when nothing was written. */
  says: string;
}

/** The lines. They alone are rendered when more come. */
function Output({ of, place, held, mayGrow, isFollowing, onFollowing, hasTimes, pattern, says }: OutputProps) {
  const log = useLogWindow(of, held, isFollowing && mayGrow);
  const more = useMoreLines(of, held);
  const lines = useMemo(() => (log.data === undefined ? [] : linesOf(log.data)), [log.data]);
  return (
    <>
      {log.error !== null && <Refused error={log.error} tried="The nodes were asked for lines." retry={log.refetch} />}
      {log.data && <Unread log={log.data} />}
      <LogLines
        lines={lines}
        hasOlder={log.data !== undefined && olderFrom(log.data) !== null}
        isAtEnd={log.data?.isAtEnd ?? false}
        loadOlder={more.older}
        loadNewer={more.newer}
        isFollowing={isFollowing}
        onFollowing={onFollowing}
        isNamed={isMerged(of)}
        hasTimes={hasTimes}
        pattern={pattern}
        target={targetOf(place, log.data)}
        beginning={<Beginning dropped={log.data?.dropped_bytes ?? 0} />}
        says={log.isPending ? "Asking the nodes …" : says}
      />
    </>
  );
}

/** The first line that is not before the time that was jumped to. */
function targetOf(place: LogPlace, log: LogWindow | undefined): string | null {
  if (place === null) return null;
  if ("line" in place) return place.line;
  return log?.pieces[1]?.lines[0]?.key ?? log?.pieces[0]?.lines.find((line) => line.at !== null && line.at >= place.at)?.key ?? null;
}

function PlaceNote({ place, toEnd }: { place: NonNullable<LogPlace>; toEnd: () => void }) {
  return (
    <p className={classes.place}>
      {"at" in place ? `From ${formatMoment(place.at)} on; what was before is above.` : "Around a line."}
      <Button size="compact-xs" variant="default" onClick={toEnd}>
        To the end
      </Button>
    </p>
  );
}

/** Which nodes' lines are missing, and what stands in for them. */
function Unread({ log }: { log: LogWindow }) {
  const missing = log.unread.map((one) => [one.why, one.stored].filter(Boolean).join(" "));
  const said = [...(log.problem === null ? [] : [log.problem]), ...missing.filter((each) => each !== log.problem)];
  return said.map((each) => (
    <p key={each} className="quiet" role="status">
      {each}
    </p>
  ));
}

function Beginning({ dropped }: { dropped: number }) {
  const says = dropped > 0 ? `${formatBytes(dropped)} before this were dropped: the job keeps log_max_bytes of each stream.` : "The log begins here.";
  return <div className={classes.beginning}>{says}</div>;
}

function empty({ rank, stream, round }: LogAddress, job: StandingJob): string {
  const where = stream === "both" ? "either stream" : stream;
  const said = `${rank === "all" ? "No rank has written anything" : `Rank ${rank} has written nothing`} to ${where} in round ${round}.`;
  const hint = stream === "stdout" && !ENDED.has(job.state) ? " What a worker prints is here within a second, once it flushes its output." : "";
  return said + hint;
}

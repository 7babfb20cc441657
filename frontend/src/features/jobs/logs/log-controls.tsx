import { NativeSelect, SegmentedControl, Switch } from "@mantine/core";
import { downloadAddress, type LogAddress, type RoundOut } from "@/api";
import { formatClock } from "@/lib/format";
import classes from "./log-tab.module.css";

interface Props {
  of: LogAddress;
  rounds: RoundOut[];
  worldSize: number;
  /** Whether the round stands in the address, or is the newest whichever that is. */
  isChosen: boolean;
  hasTimes: boolean;
  isFollowing: boolean;
  onFollowing: (follows: boolean) => void;
  /** Changes the address; empty values go out of it. */
  set: (values: Record<string, string>) => void;
}

/** Whose output is shown: round, rank and stream; and whether its end is followed. */
export function LogControls({ of, rounds, worldSize, isChosen, hasTimes, isFollowing, onFollowing, set }: Props) {
  const file = downloadAddress(of);
  // Another log has other places.
  const choose = (values: Record<string, string>) => set({ ...values, line: "", at: "" });
  return (
    <div className={classes.controls}>
      <NativeSelect
        size="xs"
        aria-label="Round"
        value={isChosen ? `${of.attempt}.${of.round}` : ""}
        onChange={(event) => {
          const [attempt = "", round = ""] = event.currentTarget.value.split(".");
          choose({ attempt, round });
        }}
        data={[{ value: "", label: "newest round" }, ...[...rounds].reverse().map(roundOption)]}
      />
      <NativeSelect
        size="xs"
        aria-label="Rank"
        value={String(of.rank)}
        onChange={(event) => choose({ rank: event.currentTarget.value })}
        data={rankOptions(of, worldSize)}
      />
      <SegmentedControl
        size="xs"
        aria-label="Stream"
        value={of.stream}
        onChange={(value) => choose({ stream: value })}
        data={["stdout", "stderr", "both"]}
      />
      <Switch size="xs" label="times" checked={hasTimes} onChange={(event) => set({ times: event.currentTarget.checked ? "on" : "off" })} />
      <Switch size="xs" label="follow" checked={isFollowing} onChange={(event) => onFollowing(event.currentTarget.checked)} />
      {file !== null && (
        <a className={classes.file} href={file} download>
          Download
        </a>
      )}
    </div>
  );
}

function rankOptions({ rank }: LogAddress, worldSize: number) {
  const count = Math.max(worldSize, rank === "all" ? 0 : rank + 1);
  const ranks = Array.from({ length: count }, (_, each) => ({ value: String(each), label: `rank ${each}` }));
  return [{ value: "all", label: "all ranks" }, ...ranks];
}

function roundOption(round: RoundOut) {
  const attempt = round.attempt === 1 ? "" : `attempt ${round.attempt}, `;
  const label = `${attempt}round ${round.number}, ${formatClock(round.formed_at)}`;
  return { value: `${round.attempt}.${round.number}`, label };
}

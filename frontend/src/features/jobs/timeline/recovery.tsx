import { useRef } from "react";
import { UnstyledButton } from "@mantine/core";
import type { StandingJob, RoundOut, TimelineOut } from "@/api";
import { usePlace } from "./use-place";
import { Waterfall } from "./waterfall";
import { inOneLine, newestRestart } from "./waterfall-words";
import classes from "./waterfall.module.css";

/** How the job came into the selected round. While none is selected, the newest restart in one line. */
export function Recovery({ job, timeline }: { job: StandingJob; timeline: TimelineOut }) {
  const { rounds } = timeline;
  const place = usePlace(rounds);
  const isAsked = useRef(false);
  const selected = place.selected === undefined ? undefined : rounds[place.selected];
  /** The button that was pressed is gone when its round is shown: the focus goes on to that. */
  const takeFocus = (shown: HTMLElement | null) => {
    if (isAsked.current) shown?.focus();
    if (shown !== null) isAsked.current = false;
  };
  const show = (round: RoundOut) => {
    isAsked.current = true;
    place.select(rounds.indexOf(round));
  };
  const isGoingOn = (round: RoundOut) => timeline.ended_at === null && round === rounds.at(-1);
  if (selected !== undefined) {
    const key = `${selected.attempt} ${selected.number}`;
    return <Waterfall key={key} ref={takeFocus} job={job} timeline={timeline} round={selected} isGoingOn={isGoingOn(selected)} />;
  }
  const newest = newestRestart(rounds);
  if (newest === undefined) return <p className={`${classes.folded} live`}>No restart so far.</p>;
  return <Folded round={newest} isGoingOn={isGoingOn(newest)} onShow={() => show(newest)} />;
}

function Folded({ round, isGoingOn, onShow }: { round: RoundOut; isGoingOn: boolean; onShow: () => void }) {
  return (
    <p className={`${classes.folded} live`} data-testid="newest-restart">
      {inOneLine(round, isGoingOn)}{" "}
      <UnstyledButton className={classes.open} onClick={onShow} aria-label={`Show round ${round.number}`}>
        show <span aria-hidden="true">▾</span>
      </UnstyledButton>
    </p>
  );
}

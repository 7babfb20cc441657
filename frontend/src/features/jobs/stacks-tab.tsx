import { Button, CopyButton } from "@mantine/core";
import { useStacks, useStalls, type StandingJob, type StacksOut, type StallPage } from "@/api";
import { formatClock, formatMoment, plural } from "@/lib/format";
import { ENDED } from "@/lib/states";
import { Age } from "@/ui/age";
import { Loading } from "@/ui/loading";
import { Refused } from "@/ui/refused";
import { StackGroups } from "./stack-groups";
import { stacksText } from "./stack-words";
import classes from "./stacks-tab.module.css";

/** Where the ranks stand in their code: taken now, and as it was when a stall was noticed. */
export function StacksTab({ job }: { job: StandingJob }) {
  const stacks = useStacks(job.id);
  const isOver = ENDED.has(job.state);
  return (
    <section className={classes.tab} aria-label="Stacks">
      <div className={classes.acts}>
        <Button size="compact-sm" variant="default" disabled={isOver} loading={stacks.isFetching} onClick={() => void stacks.refetch()}>
          Take stacks
        </Button>
        {stacks.data !== undefined && <Taken of={stacks.data} />}
        {stacks.data === undefined && <span className="quiet">{isOver ? "The job is over: no worker runs." : WHAT_IT_DOES}</span>}
      </div>
      {stacks.isError && <Refused error={stacks.error} tried="The nodes were asked where the ranks stand." retry={stacks.refetch} />}
      {stacks.data !== undefined && <Answer of={stacks.data} />}
      <Stalls job={job} />
    </section>
  );
}

const WHAT_IT_DOES = "All ranks are asked at once, within two seconds; nothing is stopped for it.";

function Taken({ of }: { of: StacksOut }) {
  return (
    <>
      <span className="quiet small" title={formatMoment(of.at)}>
        round {of.round}, taken <Age at={of.at} suffix=" ago" />
      </span>
      <Copy text={stacksText(of.groups, of.ranks, of.silent)} />
    </>
  );
}

function Copy({ text }: { text: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button size="compact-xs" variant="subtle" onClick={copy}>
          {copied ? "Copied" : "Copy as text"}
        </Button>
      )}
    </CopyButton>
  );
}

/** The stacks, and of whom there are none and why. */
function Answer({ of }: { of: StacksOut }) {
  const unread = of.ranks.filter(({ problem }) => problem !== null);
  return (
    <>
      <StackGroups groups={of.groups} />
      {(unread.length > 0 || of.silent.length > 0) && (
        <ul className={classes.unread} aria-label="Not read">
          {of.silent.map((why) => (
            <li key={why}>{why}</li>
          ))}
          {unread.slice(0, MOST).map(({ rank, node, problem }) => (
            <li key={rank}>
              Rank {rank} on {node}: {problem}
            </li>
          ))}
          {unread.length > MOST && <li>and {plural(unread.length - MOST, "rank")} more</li>}
        </ul>
      )}
    </>
  );
}

const MOST = 20;

function Stalls({ job }: { job: StandingJob }) {
  const stalls = useStalls(job.id, `${job.state} ${job.stall?.why ?? ""}`, job.stall !== null);
  if (stalls.data === undefined) {
    if (stalls.error === null) return <Loading what="earlier stalls" />;
    return <Refused error={stalls.error} tried="Earlier stalls were asked for." retry={stalls.refetch} />;
  }
  return stalls.data.items.length === 0 ? <p className="quiet">This job has not stalled.</p> : <Past page={stalls.data} />;
}

function Past({ page }: { page: StallPage }) {
  return (
    <>
      <h3>Stalls</h3>
      <ul className={classes.stalls} aria-label="Stalls, newest first">
        {page.items.map((stall) => (
          <li key={stall.noticed_at}>
            <time className="mono small" dateTime={stall.began_at} title={formatMoment(stall.began_at)}>
              {formatClock(stall.began_at)}
            </time>
            <span>{stall.says}</span>
          </li>
        ))}
      </ul>
      {page.groups.length > 0 && (
        <>
          <div className={classes.acts}>
            <h3>How the ranks stood when the newest was noticed</h3>
            <Copy text={stacksText(page.groups)} />
          </div>
          <StackGroups groups={page.groups} />
        </>
      )}
    </>
  );
}

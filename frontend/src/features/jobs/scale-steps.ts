/** A change of the number of nodes on its way: each step by what was seen, none by what was asked. */
import type { StandingJob, MemberOut, RoundOut } from "@/api";
import { plural } from "@/lib/format";
import { within } from "@/lib/phrases";
import type { Step } from "@/ui/steps";

/** The job as it was when the person asked. */
export interface Asked {
  target: number;
  before: StandingJob;
  /** When, by the hub's clock. */
  at: string;
}

export function scaleSteps(job: StandingJob, rounds: RoundOut[], { target, before, at }: Asked): Step[] {
  const first: Step = { says: `${plural(target, "node")} wanted`, at: job.nodes.wanted === target ? at : null };
  const between = target > before.nodes.wanted ? coming(job, before, target) : going(job, before, target);
  return [first, ...between, ...formed(job, rounds, before, target)];
}

function coming(job: StandingJob, before: StandingJob, target: number): Step[] {
  const known = new Map(before.members.map((member) => [member.node, member]));
  const came = job.members.filter((member) => isNew(member, known.get(member.node)));
  const found = came.flatMap(stepsOfComer);
  const staying = came.filter((member) => !isAway(member)).length;
  const missing = target - before.nodes.wanted - staying;
  if (missing <= 0 || before.members.length === 0) return found;
  return [...found, { says: `${plural(missing, staying > 0 ? "more node" : "node")} with free slots`, at: null }];
}

function stepsOfComer(member: MemberOut): Step[] {
  const { node } = member;
  const started = { says: `${node} was asked to start its runner`, at: undefined };
  if (!isAway(member)) return [started, { says: `${node} is ready and joins`, at: isReady(member) ? undefined : null }];
  const why = member.leaves_why || within(member.reason.replace(/\.$/, "")) || "why is not known";
  return [started, { says: `${node} does not take part: ${why}`, at: member.leaves_at ?? undefined }];
}

/** It was asked to come, and does not any more: another node was quicker, say. */
function isAway(member: MemberOut): boolean {
  return member.leaves_at !== null || member.outcome !== "";
}

function isNew(member: MemberOut, before: MemberOut | undefined): boolean {
  return before === undefined || (before.outcome !== "" && member.incarnation > before.incarnation);
}

function isReady({ phase, round }: MemberOut): boolean {
  return round !== null || !["launching", "idle"].includes(phase);
}

function going(job: StandingJob, before: StandingJob, target: number): Step[] {
  const stood = before.members.filter((member) => member.leaves_at === null && member.outcome === "").map(({ node }) => node);
  const leaving = job.members.filter((member) => member.leaves_at !== null && stood.includes(member.node));
  const found = leaving.flatMap((member): Step[] => [
    { says: `${member.node} is to leave`, at: member.leaves_at },
    { says: `${member.node} has left, and nothing of the job runs there`, at: member.settled_at },
  ]);
  const missing = stood.length - target - leaving.length;
  return missing > 0 ? [...found, { says: `${plural(missing, "node")} to leave`, at: null }] : found;
}

function formed(job: StandingJob, rounds: RoundOut[], before: StandingJob, target: number): Step[] {
  const since = rounds.filter((round) => isSince(round, before) && round.attempt === job.attempt);
  const round = since.filter((each) => each.nodes.length === target).at(-1);
  const isFormed = job.nodes.formed === target && (round !== undefined || before.nodes.formed === target);
  const size = round === undefined ? "" : `, world size ${round.world_size}`;
  const name = round === undefined ? "a round is formed" : `round ${round.number} is formed`;
  const isAlive = isFormed && job.nodes.alive === target && job.workers_alive === job.world_size;
  return [
    { says: `${name} with ${plural(target, "node")}${size}`, at: isFormed ? round?.formed_at : null },
    { says: `${target} of ${plural(target, "node")} alive`, at: isAlive ? undefined : null },
  ];
}

function isSince(round: RoundOut, before: StandingJob): boolean {
  const attempt = before.attempt ?? 0;
  return round.attempt > attempt || (round.attempt === attempt && round.number > (before.round ?? 0));
}

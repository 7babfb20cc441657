/** Where one node of a job stands, in a word, and in a sentence where the word is not all. */
import type { JobOut, MemberOut } from "@/api";
import { plural } from "@/lib/format";
import { listed } from "@/lib/phrases";
import { MEMBER_STATES, type MemberState } from "@/lib/states";

export interface MemberStanding {
  word: MemberState;
  /** Since when, where that is known. */
  since: string | null;
  says: string;
}

export function memberStanding(member: MemberOut, job: Pick<JobOut, "members" | "round" | "spec">): MemberStanding {
  const word = wordOf(member, job.round);
  return { word, since: sinceOf(member, word), says: [sentence(member, word, job), deaths(member)].filter(Boolean).join(" ") };
}

function wordOf(member: MemberOut, round: number | null): MemberState {
  if (member.has_left) return "left";
  if (member.outcome !== "") return known(member.outcome);
  if (member.state !== "online" && round !== null && (member.round ?? 0) < round) return "gone";
  if (member.leaves_at !== null) return "leaving";
  if (member.is_spare) return "spare";
  if (member.incarnation > 1 && ["launching", "idle"].includes(member.phase)) return "starting again";
  return known(member.phase);
}

function known(word: string): MemberState {
  return word in MEMBER_STATES ? (word as MemberState) : "unknown";
}

function sinceOf(member: MemberOut, word: MemberState): string | null {
  return word === "leaving" ? member.leaves_at : member.since;
}

function sentence(member: MemberOut, word: MemberState, job: Pick<JobOut, "members" | "spec">): string {
  switch (word) {
    case "leaving":
      return `It is to leave: ${member.leaves_why}. Its workers get SIGTERM and ${job.spec.shutdown_timeout} s.`;
    case "left":
      return `It left${member.leaves_why === "" ? "" : `: ${member.leaves_why}`}. ${settled(member)}`;
    case "gone":
      return "It is not heard, and the others formed a round without it.";
    case "spare":
      return "It stands by, and takes the place of a node that is lost.";
    case "finishing":
      return `It is finished, and waits for ${listed(others(member, job)) || "the others"}.`;
    case "failed":
    case "stopped":
    case "unknown":
      return member.reason;
    default:
      return member.leaves_at === null ? "" : `It was to leave: ${member.leaves_why}.`;
  }
}

function settled({ settled_at: at }: MemberOut): string {
  return at === null ? "What is left of the job there is being ended." : "Nothing of the job runs there.";
}

/** Whom a node that is done waits for. */
function others(member: MemberOut, { members }: Pick<JobOut, "members">): string[] {
  const busy = members.filter((other) => other.outcome === "" && other.phase !== "finishing" && !other.is_spare);
  return busy.filter((other) => other.node !== member.node).map((other) => other.node);
}

/** That it is not the node's first runner, and why. */
function deaths({ deaths, incarnation }: MemberOut): string {
  if (incarnation < 2) return "";
  const died = deaths.length === 0 ? "" : ` ${plural(deaths.length, "runner")} of it died before.`;
  return `This is runner ${incarnation} of the node in this attempt.${died}`;
}

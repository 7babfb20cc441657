/** How many nodes are wanted, who is on the way in or out, and why the number is fixed where it is. */
import type { JobOut, MemberOut } from "@/api";
import { are } from "@/lib/phrases";
import { plural } from "@/lib/format";
import { ENDED } from "@/lib/states";

type Noted = Pick<JobOut, "state" | "nodes" | "members" | "scaling">;

export function nodesNote({ state, nodes, members, scaling }: Noted): string {
  const isRange = nodes.min !== nodes.max;
  const wanted = isRange ? `${nodes.wanted} wanted of ${nodes.min} to ${nodes.max}` : `${nodes.wanted} wanted`;
  if (ENDED.has(state)) return `${wanted}.`;
  const spares = scaling.standing_by > 0 ? `${plural(scaling.standing_by, "more node")} standing by` : "";
  const said = [wanted, spares, ...onTheWay(members)].filter((part) => part !== "");
  return `${said.join("; ")}. ${scaling.fixed}`.trim();
}

function onTheWay(members: MemberOut[]): string[] {
  const runs = members.filter((member) => member.outcome === "");
  const joining = runs.filter((member) => member.round === null && !member.is_spare && member.leaves_at === null);
  const leaving = runs.filter((member) => member.leaves_at !== null);
  return [
    joining.length > 0 ? `${are(joining.map(({ node }) => node))} joining` : "",
    leaving.length > 0 ? `${are(leaving.map(({ node }) => node))} leaving` : "",
  ];
}

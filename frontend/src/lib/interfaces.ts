/** Network interfaces of nodes, read with care: an older node agent tells of none. */
import { plural } from "./format";

export interface Interface {
  name: string;
  addresses: string[];
  isUp: boolean;
  /** "device", "loopback", "bond", "bridge", "tunnel" or "virtual". */
  sort: string;
  speedMbps: number | null;
}

export function readInterfaces(facts: Record<string, unknown>): Interface[] {
  const told: unknown = facts["interfaces"];
  return Array.isArray(told) ? told.filter(isRecord).map(read) : [];
}

/** Those that lead to other machines, the fastest first: "ib0 200 Gbit/s, eth0". */
export function shortInterfaces(interfaces: Interface[]): string {
  return interfaces
    .filter(leadsOut)
    .sort((one, other) => (other.speedMbps ?? 0) - (one.speedMbps ?? 0))
    .map(({ name, speedMbps }) => (speedMbps === null ? name : `${name} ${speedText(speedMbps)}`))
    .join(", ");
}

/** "ib0: 10.1.0.2, 200 Gbit/s" and, of what is special, how: a line for each. */
export function longInterfaces(interfaces: Interface[]): string {
  return interfaces.map(longText).join("\n");
}

/** Names that a job may ask for, with the number of nodes that have each. */
export function interfaceNames(nodes: readonly { facts: Record<string, unknown> }[]): { value: string; says: string }[] {
  const counts = new Map<string, number>();
  for (const { name } of nodes.flatMap(({ facts }) => readInterfaces(facts)).filter(leadsOut))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => ({ value: name, says: plural(count, "node") }));
}

function leadsOut({ isUp, addresses, sort }: Interface): boolean {
  return isUp && addresses.length > 0 && sort !== "loopback" && sort !== "bridge";
}

function longText({ name, addresses, isUp, sort, speedMbps }: Interface): string {
  const told = [
    addresses.join(", ") || "no address",
    ...(speedMbps === null ? [] : [speedText(speedMbps)]),
    ...(sort === "device" ? [] : [sort]),
    ...(isUp ? [] : ["down"]),
  ];
  return `${name}: ${told.join(", ")}`;
}

function speedText(mbps: number): string {
  return mbps >= 1000 ? `${mbps / 1000} Gbit/s` : `${mbps} Mbit/s`;
}

function read(one: Record<string, unknown>): Interface {
  const addresses: unknown = one["addresses"];
  return {
    name: text(one["name"]),
    addresses: Array.isArray(addresses) ? addresses.map(text) : [],
    isUp: one["is_up"] !== false,
    sort: text(one["sort"]),
    speedMbps: typeof one["speed_mbps"] === "number" ? one["speed_mbps"] : null,
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

import { expect, test } from "vitest";
import { interfaceNames, longInterfaces, readInterfaces, shortInterfaces } from "./interfaces";

const ETH = { name: "eth0", addresses: ["10.0.0.2", "fd00::2"], is_up: true, sort: "device", speed_mbps: 25_000 };
const IB = { name: "ib0", addresses: ["10.1.0.2"], is_up: true, sort: "device", speed_mbps: 200_000 };
const SLOW = { name: "usb0", addresses: ["10.2.0.2"], is_up: true, sort: "device", speed_mbps: 100 };
const DOWN = { name: "ib1", addresses: [], is_up: false, sort: "device", speed_mbps: null };
const DOCKER = { name: "docker0", addresses: ["172.17.0.1"], is_up: true, sort: "bridge", speed_mbps: null };
const LO = { name: "lo", addresses: ["127.0.0.1"], is_up: true, sort: "loopback", speed_mbps: null };

test("a row shows those that lead to other machines, the fastest first", () => {
  const read = readInterfaces({ interfaces: [DOCKER, ETH, IB, DOWN, LO, SLOW] });
  expect(shortInterfaces(read)).toBe("ib0 200 Gbit/s, eth0 25 Gbit/s, usb0 100 Mbit/s");
});

test("all of them are told with what is special about each", () => {
  expect(longInterfaces(readInterfaces({ interfaces: [ETH, DOWN, DOCKER] }))).toBe(
    "eth0: 10.0.0.2, fd00::2, 25 Gbit/s\nib1: no address, down\ndocker0: 172.17.0.1, bridge",
  );
});

test("a node that tells of none has none", () => {
  expect(readInterfaces({})).toEqual([]);
  expect(readInterfaces({ interfaces: "odd" })).toEqual([]);
});

test("each name is offered with the number of nodes that have it", () => {
  const nodes = [{ facts: { interfaces: [ETH, IB, LO] } }, { facts: { interfaces: [ETH, DOWN] } }, { facts: {} }];
  expect(interfaceNames(nodes)).toEqual([
    { value: "eth0", says: "2 nodes" },
    { value: "ib0", says: "1 node" },
  ]);
});

"""Which nodes a queued job gets: pure, so that the same rooms give the same answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Room:
    """A node as a place for workers."""

    node: str
    slots: int
    free: int
    is_online: bool
    held_by: tuple[str, ...] = ()
    """Who holds its slots, such as ``job 7 char-lm``."""
    names: frozenset[str] = frozenset()
    """Host name and addresses under which the node is known."""
    machine: str = ""
    """Nodes with the same word run on the same machine."""


@dataclass(frozen=True)
class Need:
    low: int
    """Nodes without which the job does not begin."""
    high: int
    slots: int
    """On each node."""
    host: str = ""
    """Where the store must be. Empty: on any node."""


@dataclass(frozen=True)
class Placed:
    nodes: tuple[str, ...]
    """The first one hosts the store."""


@dataclass(frozen=True)
class NotPlaced:
    why: str


def choose(rooms: Sequence[Room], need: Need) -> Placed | NotPlaced:
    """As many nodes as fit, up to ``high``; the ones with most room first."""
    candidates = rooms if need.host not in LOOPBACK else _same_machine(rooms, need)
    fitting = sorted((r for r in candidates if _fits(r, need)), key=lambda r: (-r.free, r.node))
    hosts = [room for room in fitting if can_host(room, need.host)]
    if len(fitting) < need.low:
        return NotPlaced(_too_few(candidates, need, len(fitting)))
    if not hosts:
        return NotPlaced(_no_host(rooms, need))
    chosen = [hosts[0], *(room for room in fitting if room is not hosts[0])][: need.high]
    return Placed(tuple(room.node for room in chosen))


def can_host(room: Room, host: str) -> bool:
    """Whether the store may be on that node: its own name or address, or this very machine."""
    return not host or host in LOOPBACK or host == room.node or host in room.names


def _fits(room: Room, need: Need) -> bool:
    return room.is_online and room.free >= need.slots


def _same_machine(rooms: Sequence[Room], need: Need) -> list[Room]:
    """A store on loopback is reached from one machine alone: the one where most nodes fit."""
    machines = sorted({room.machine for room in rooms})
    groups = [[room for room in rooms if room.machine == machine] for machine in machines]
    return max(groups, key=lambda group: sum(_fits(room, need) for room in group), default=[])


def _too_few(rooms: Iterable[Room], need: Need, fitting: int) -> str:
    nodes = "1 node" if need.low == 1 else f"{need.low} nodes"
    each = " each" if need.low > 1 else ""
    slots = "1 free slot" if need.slots == 1 else f"{need.slots} free slots"
    wanted = f"Queued: needs {nodes} with {slots}{each}"
    missing = [_lacks(room) for room in rooms if not _fits(room, need)]
    if not missing and not fitting:
        return f"{wanted}; no node has joined yet. Start regroup-agent on a machine."
    ready = f"{fitting} {'is' if fitting == 1 else 'are'} ready" if fitting else "none is ready"
    return f"{wanted}; {ready}{': ' if missing else ''}{', '.join(missing)}."


def _lacks(room: Room) -> str:
    if not room.is_online:
        return f"{room.node} is not heard"
    held = f" (held by {' and '.join(room.held_by)})" if room.held_by else ""
    return f"{room.node} has {room.free} of {room.slots} free{held}"


def _no_host(rooms: Iterable[Room], need: Need) -> str:
    owners = [room for room in rooms if can_host(room, need.host)]
    if not owners:
        return f"Queued: rdzv_endpoint names {need.host}, and no node has that name or address."
    lacks = ", ".join(_lacks(room) for room in owners)
    return f"Queued: rdzv_endpoint names {need.host}, and that node has no room now: {lacks}."

"""Which nodes a queued job gets: pure, so that the same rooms give the same answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.wire.spec import JobSpec, nproc_on, slots_needed

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
    closed: str = ""
    """Why it gets no jobs, such as ``is being drained``. Empty: it gets them."""
    cpus: int = 0
    gpus: int = 0


@dataclass(frozen=True)
class Need:
    low: int
    """Nodes without which the job does not begin."""
    high: int
    slots: int = 1
    """On each node."""
    host: str = ""
    """Where the store must be. Empty: on any node."""
    spec: JobSpec | None = None
    """Where the number of workers depends on the node."""

    def on(self, room: Room) -> int:
        """Slots that the job takes on that node. 0: it has none of the devices that are asked for."""
        return self.slots if self.spec is None else workers_on_room(self.spec, room)


@dataclass(frozen=True)
class Placed:
    nodes: tuple[str, ...]
    """The first one hosts the store."""


@dataclass(frozen=True)
class NotPlaced:
    why: str


def workers_on_room(spec: JobSpec, room: Room) -> int:
    return nproc_on(spec, cpus=room.cpus, gpus=room.gpus)


def choose(rooms: Sequence[Room], need: Need) -> Placed | NotPlaced:
    """As many nodes as fit, up to ``high``; the ones with most room first."""
    candidates = rooms if need.host not in LOOPBACK else _same_machine(rooms, need)
    fitting = find_fitting(candidates, need)
    hosts = [room for room in fitting if can_host(room, need.host)]
    if len(fitting) < need.low:
        return NotPlaced(_too_few(candidates, need, len(fitting)))
    if not hosts:
        return NotPlaced(_no_host(rooms, need))
    chosen = [hosts[0], *(room for room in fitting if room is not hosts[0])][: need.high]
    return Placed(tuple(room.node for room in chosen))


def find_fitting(rooms: Sequence[Room], need: Need) -> list[Room]:
    """Those with room, the ones with most of it first."""
    return sorted((room for room in rooms if _fits(room, need)), key=lambda room: (-room.free, room.node))


def can_host(room: Room, host: str) -> bool:
    """Whether the store may be on that node: its own name or address, or this very machine."""
    return not host or host in LOOPBACK or host == room.node or host in room.names


def _fits(room: Room, need: Need) -> bool:
    return room.is_online and not room.closed and room.free >= need.on(room) > 0


def _same_machine(rooms: Sequence[Room], need: Need) -> list[Room]:
    """A store on loopback is reached from one machine alone: the one where most nodes fit."""
    machines = sorted({room.machine for room in rooms})
    groups = [[room for room in rooms if room.machine == machine] for machine in machines]
    return max(groups, key=lambda group: sum(_fits(room, need) for room in group), default=[])


def _too_few(rooms: Iterable[Room], need: Need, fitting: int) -> str:
    nodes = "1 node" if need.low == 1 else f"{need.low} nodes"
    each = " each" if need.low > 1 else ""
    wanted = f"Queued: needs {nodes} with {say_slots(need)}{each}"
    missing = [_lacks(room, need) for room in rooms if not _fits(room, need)]
    if not missing and not fitting:
        return f"{wanted}; no node has joined yet. Start regroup-agent on a machine."
    ready = f"{fitting} {'is' if fitting == 1 else 'are'} ready" if fitting else "none is ready"
    return f"{wanted}; {ready}{': ' if missing else ''}{', '.join(missing)}."


def say_slots(need: Need) -> str:
    """``2 free slots``, or what the job wants a slot for."""
    if need.spec is not None and not isinstance(need.spec.nproc_per_node, int):
        return f"a free slot for each worker (nproc_per_node is {need.spec.nproc_per_node})"
    slots = need.slots if need.spec is None else slots_needed(need.spec)
    return "1 free slot" if slots == 1 else f"{slots} free slots"


def _lacks(room: Room, need: Need) -> str:
    if not room.is_online:
        return f"{room.node} is not heard"
    if room.closed:
        return f"{room.node} {room.closed}"
    if need.on(room) < 1:
        return f"{room.node} has no GPUs"
    held = f" (held by {' and '.join(room.held_by)})" if room.held_by else ""
    return f"{room.node} has {room.free} of {room.slots} free{held}"


def _no_host(rooms: Iterable[Room], need: Need) -> str:
    owners = [room for room in rooms if can_host(room, need.host)]
    if not owners:
        return f"Queued: rdzv_endpoint names {need.host}, and no node has that name or address."
    lacks = ", ".join(_lacks(room, need) for room in owners)
    return f"Queued: rdzv_endpoint names {need.host}, and that node has no room now: {lacks}."

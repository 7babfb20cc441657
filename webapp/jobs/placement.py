"""Which nodes a queued job gets: pure, so that the same rooms give the same answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from agents.wire.spec import JobSpec, nproc_on, slots_needed

from .wishes import Wish, say_unsuited
from .words import count

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
NAMED = 6
"""Nodes that a sentence names; the rest are counted."""


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
    gpu_models: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    environments: Mapping[str, str] = field(default_factory=dict)
    """Interpreters that it offers, by name: why no job can run with one, or nothing."""
    opens_secrets: bool = True
    """Its node agent has announced a key with which secret variables can be sealed for it."""
    is_lost: bool = False
    """Silent for so long that nobody counts on it."""
    kept: int = 0
    """Slots that are for the job that has waited longest, whether they are free yet or not."""
    kept_for: str = ""


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
    wish: Wish = field(default_factory=Wish)
    most_slots: int | None = None
    """What whoever launched it may still use. None: any number."""

    def on(self, room: Room) -> int:
        """Slots that the job takes on that node. 0: it has none of the devices that are asked for."""
        everywhere = self._slots_everywhere
        return everywhere or (0 if self.spec is None else workers_on_room(self.spec, room))

    @cached_property
    def _slots_everywhere(self) -> int:
        """0: it depends on the node."""
        if self.spec is None:
            return self.slots
        return self.spec.nproc_per_node if isinstance(self.spec.nproc_per_node, int) else 0


@dataclass(frozen=True)
class Placed:
    nodes: tuple[str, ...]
    """The first one hosts the store."""


@dataclass(frozen=True)
class NotPlaced:
    why: str
    is_for_room: bool = True
    """It waits for slots that others have, not for something else."""
    is_over: bool = False
    """It would use more slots than its owner may; ``why`` then is a part of a sentence."""


def workers_on_room(spec: JobSpec, room: Room) -> int:
    return nproc_on(spec, cpus=room.cpus, gpus=room.gpus)


def choose(rooms: Sequence[Room], need: Need) -> Placed | NotPlaced:
    """As many nodes as fit, up to ``high``, in the order that is wished for."""
    candidates = rooms if need.host not in LOOPBACK else _same_machine(rooms, need)
    fitting = find_fitting(candidates, need)
    hosts = [room for room in fitting if can_host(room, need.host)]
    if len(fitting) < need.low:
        return NotPlaced(_too_few(candidates, need, fitting))
    if not hosts:
        return NotPlaced(_no_host(rooms, need))
    ordered = [hosts[0], *(room for room in fitting if room is not hosts[0])]
    chosen = _within_share(ordered[: need.high], need)
    if len(chosen) < need.low:
        least = sum(need.on(room) for room in ordered[: need.low])
        return NotPlaced(f"this job needs {least} at least", is_for_room=False, is_over=True)
    return Placed(tuple(room.node for room in chosen))


def _within_share(rooms: Sequence[Room], need: Need) -> Sequence[Room]:
    """The first of them, as long as they are no more than the owner may use."""
    if need.most_slots is None:
        return rooms
    left, chosen = need.most_slots, []
    for room in rooms:
        left -= need.on(room)
        if left < 0:
            break
        chosen.append(room)
    return chosen


def find_fitting(rooms: Sequence[Room], need: Need) -> list[Room]:
    """Those with room: the emptiest first, or with ``packs`` the fullest."""
    sign = 1 if need.wish.packs else -1
    fitting = (room for room in rooms if _fits(room, need))
    return sorted(fitting, key=lambda room: (sign * available(room), room.node))


def find_hopeful(rooms: Sequence[Room], need: Need) -> list[Room]:
    """Those that would do if nothing else ran: the store's host first, then those that lack least.

    None where they would be too few.
    """
    hopeful = [room for room in rooms if _may_fit(room, need)]
    if need.host in LOOPBACK:
        hopeful = _most_hopeful_machine(hopeful, need)
    hopeful.sort(key=lambda room: (-min(room.free, need.on(room)), room.node))
    host = next((room for room in hopeful if can_host(room, need.host)), None)
    if host is None or len(hopeful) < need.low:
        return []
    return [host, *(room for room in hopeful if room is not host)]


def available(room: Room) -> int:
    """Slots that nobody has, and that are kept for nobody."""
    return max(0, room.free - room.kept)


def can_host(room: Room, host: str) -> bool:
    """Whether the store may be on that node: its own name or address, or this very machine."""
    return not host or host in LOOPBACK or host == room.node or host in room.names


def _fits(room: Room, need: Need) -> bool:
    # Asked of every node for each job that waits: what is quick and mostly false comes first.
    is_open = room.free > room.kept and room.is_online and not room.closed
    return is_open and available(room) >= need.on(room) > 0 and not _unsuited(room, need)


def _may_fit(room: Room, need: Need) -> bool:
    has_slots = room.slots >= need.on(room) > 0
    return has_slots and not room.is_lost and not room.closed and not _unsuited(room, need)


def _unsuited(room: Room, need: Need) -> str:
    opens = room.opens_secrets
    return say_unsuited(need.wish, room.node, room.labels, room.gpu_models, room.environments, opens)


def _same_machine(rooms: Sequence[Room], need: Need) -> list[Room]:
    """A store on loopback is reached from one machine alone: the one where most nodes fit."""
    machines = sorted({room.machine for room in rooms})
    groups = [[room for room in rooms if room.machine == machine] for machine in machines]
    return max(groups, key=lambda group: sum(_fits(room, need) for room in group), default=[])


def _most_hopeful_machine(rooms: Sequence[Room], need: Need) -> list[Room]:
    """The rooms of the machine that has enough of them and lacks least."""

    def ready(group: list[Room]) -> int:
        return sum(sorted((min(room.free, need.on(room)) for room in group), reverse=True)[: need.low])

    groups = [[room for room in rooms if room.machine == name] for name in sorted({r.machine for r in rooms})]
    return max((group for group in groups if len(group) >= need.low), key=ready, default=[])


def _too_few(rooms: Sequence[Room], need: Need, fitting: Sequence[Room]) -> str:
    nodes = "1 node" if need.low == 1 else f"{need.low} nodes"
    each = " each" if need.low > 1 else ""
    wanted = f"Queued: needs {nodes} with {say_slots(need)}{each}"
    if not rooms:
        return f"{wanted}; no node has joined yet. Start regroup-agent on a machine."
    there = len(fitting)
    ready = f"{there} {'is' if there == 1 else 'are'} ready" if there else "none is ready"
    missing = _say_missing(rooms, need, fitting)
    return f"{wanted}; {ready}{': ' if missing else ''}{missing}."


def _say_missing(rooms: Sequence[Room], need: Need, fitting: Sequence[Room]) -> str:
    """Why each of the others does not do; of many, those first that would if nothing else ran."""
    fit = {room.node for room in fitting}
    others = [room for room in rooms if room.node not in fit]
    if len(others) > NAMED:
        nearest = list(islice((room for room in others if _may_fit(room, need)), NAMED))
        others = nearest or others[:NAMED]
    more = len(rooms) - len(fit) - len(others)
    counted = [f"and {count(more, 'other node')}"] if more else []
    return ", ".join([*(say_lack(room, need) for room in others), *counted])


def say_slots(need: Need) -> str:
    """``2 free slots``, or what the job wants a slot for."""
    if need.spec is not None and not isinstance(need.spec.nproc_per_node, int):
        return f"a free slot for each worker (nproc_per_node is {need.spec.nproc_per_node})"
    slots = need.slots if need.spec is None else slots_needed(need.spec)
    return "1 free slot" if slots == 1 else f"{slots} free slots"


def say_lack(room: Room, need: Need) -> str:
    """Why that node does not do now."""
    if not room.is_online:
        return f"{room.node} is not heard"
    if room.closed:
        return f"{room.node} {room.closed}"
    if unsuited := _unsuited(room, need):
        return f"{room.node} {unsuited}"
    if need.on(room) < 1:
        return f"{room.node} has no GPUs"
    held = f" (held by {' and '.join(room.held_by)})" if room.held_by else ""
    kept = f", kept for {room.kept_for}" if available(room) < room.free else ""
    return f"{room.node} has {room.free} of {room.slots} free{held}{kept}"


def _no_host(rooms: Iterable[Room], need: Need) -> str:
    owners = [room for room in rooms if can_host(room, need.host)]
    if not owners:
        return f"Queued: rdzv_endpoint names {need.host}, and no node has that name or address."
    lacks = ", ".join(say_lack(room, need) for room in owners)
    return f"Queued: rdzv_endpoint names {need.host}, and that node has no room now: {lacks}."

"""Whose turn it is: the order of the jobs that wait, what is kept for the first, who has used up a share.

Pure. The order is one of times: a point of priority is worth six minutes of waiting, so that only so many can
come ahead of a job. For the first that waits for room, room is kept, and its part of its user's limits: the
others take what it cannot use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from .placement import Need, NotPlaced, Placed, Room, choose, find_hopeful
from .words import count, listed, nth

LOWEST, HIGHEST = -100, 100
POINT = timedelta(minutes=6)
"""What a point of priority is worth in waiting."""
NAMED = 2
"""Jobs ahead that are named; the rest are counted."""


@dataclass(frozen=True)
class Waiting:
    """A job in the queue."""

    job: int
    name: str
    user: str
    need: Need
    since: datetime
    priority: int = 0
    held: str = ""
    """What keeps it waiting beside room, such as an endpoint that is taken. Empty: nothing."""

    @property
    def called(self) -> str:
        return f"job {self.job} {self.name}" if self.job else "this job"

    @property
    def order(self) -> tuple[datetime, float]:
        """A job that is not launched yet, which has no number, comes behind those of the same moment."""
        return self.since - self.priority * POINT, self.job or float("inf")


@dataclass(frozen=True)
class Share:
    """What one person's jobs have."""

    slots: int = 0
    jobs: int = 0

    def plus(self, slots: int) -> Share:
        return Share(self.slots + slots, self.jobs + 1)


@dataclass(frozen=True)
class Kept:
    """What the first that waits for room will have of its user's limits."""

    first: Waiting
    share: Share


@dataclass(frozen=True)
class Limits:
    """For each person. 0: none."""

    slots: int = 0
    jobs: int = 0


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Turn:
    waiting: Waiting
    answer: Placed | NotPlaced
    ahead: tuple[Waiting, ...] = ()
    """Those that wait too and come first."""
    rooms: Sequence[Room] = field(default=(), repr=False, compare=False)
    """What those ahead left to it."""


@dataclass(frozen=True)
class Plan:
    turns: tuple[Turn, ...]
    """In order."""
    rooms: tuple[Room, ...]
    """What is left: less what is given out here, and with what is kept for the first that waits."""

    def turn_of(self, job: int) -> Turn | None:
        return next((turn for turn in self.turns if turn.waiting.job == job), None)

    @property
    def waiting(self) -> int:
        return sum(isinstance(turn.answer, NotPlaced) for turn in self.turns)


def plan(
    rooms: Sequence[Room],
    queue: Sequence[Waiting],
    limits: Limits = NO_LIMITS,
    shares: Mapping[str, Share] | None = None,
) -> Plan:
    """Who gets which nodes now, and why the others wait."""
    left, has, turns = {room.node: room for room in rooms}, dict(shares or {}), list[Turn]()
    ahead: list[Waiting] = []
    kept: Kept | None = None
    for waiting in sorted(queue, key=lambda one: one.order):
        seen = list(left.values())
        promised = kept if kept and kept.first.user == waiting.user else None
        answer = _answer(seen, waiting, limits, has.get(waiting.user, Share()), promised)
        turns.append(Turn(waiting, answer, tuple(ahead), seen))
        if isinstance(answer, Placed):
            has[waiting.user] = _take(left, waiting, answer, has.get(waiting.user, Share()))
            continue
        ahead.append(waiting)
        if answer.is_for_room and kept is None and (rooms_kept := keep(seen, waiting)):
            kept = Kept(waiting, Share().plus(sum(room.kept for room in rooms_kept.values())))
            left.update(rooms_kept)
    return Plan(tuple(turns), tuple(left.values()))


def _answer(
    rooms: Sequence[Room], waiting: Waiting, limits: Limits, share: Share, kept: Kept | None
) -> Placed | NotPlaced:
    if waiting.held:
        return NotPlaced(waiting.held, is_for_room=False)
    promised = kept.share if kept else Share()
    beside = f", and {kept.first.called} is first in turn" if kept else ""
    if limits.jobs and share.jobs + promised.jobs >= limits.jobs:
        why = f"{waiting.user} has {count(share.jobs, 'job')} running{beside}, of {limits.jobs} at a time"
        return NotPlaced(f"Queued: {why}. It starts once one of them ends.", is_for_room=False)
    need = waiting.need
    if limits.slots:
        # What was used before a limit was lowered may be more than it.
        need = replace(need, most_slots=max(0, limits.slots - share.slots - promised.slots))
    answer = choose(rooms, need)
    if isinstance(answer, NotPlaced) and answer.is_over:
        beside = f", {promised.slots} are kept for {kept.first.called}" if kept else ""
        uses = f"{waiting.user} uses {share.slots} slots{beside}, of {limits.slots} at a time"
        return NotPlaced(f"Queued: {uses}, and {answer.why}.", is_for_room=False)
    return answer


def _take(left: dict[str, Room], waiting: Waiting, placed: Placed, share: Share) -> Share:
    taken = 0
    for node in placed.nodes:
        room = left[node]
        slots = waiting.need.on(room)
        taken += slots
        left[node] = replace(room, free=room.free - slots, held_by=(*room.held_by, waiting.called))
    return share.plus(taken)


def keep(rooms: Sequence[Room], waiting: Waiting) -> dict[str, Room]:
    """The rooms on which room is kept for it; none where it could not run if all others had ended.

    They are those that lack least. Nobody takes anything there before it has all that it needs, so what is
    ready for it only ever grows, whichever nodes become free first.
    """
    need = waiting.need
    chosen = find_hopeful(rooms, need)[: need.low]
    return {room.node: replace(room, kept=need.on(room), kept_for=waiting.called) for room in chosen}


def say_turn(turn: Turn, waiting: int) -> str:
    """Why it waits, and where it stands among those that do."""
    assert isinstance(turn.answer, NotPlaced)
    if waiting < 2:
        return turn.answer.why
    place = nth(len(turn.ahead) + 1)
    names = [one.called for one in turn.ahead[:NAMED]]
    if len(turn.ahead) > NAMED:
        names.append(f"{len(turn.ahead) - NAMED} more")
    behind = f", behind {listed(names)}" if names else ""
    return f"{turn.answer.why} It is {place} of {waiting} in the queue{behind}."

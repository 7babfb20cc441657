"""Where a job would run if it were launched now, or what stands in its way. Nothing is written."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from agents.wire.spec import JobSpec
from webapp.accounts.models import Account

from .in_line import look
from .launch import need_of
from .meeting import say_taken
from .placement import Need, Placed, Room, find_fitting, say_lack
from .placing_schemas import PlaceOut, PreviewOut
from .queue import Plan, Turn, Waiting, say_turn
from .rooms import read_rooms
from .schemas import JobIn
from .services import read_spec
from .specs import wish_of
from .words import count, listed

SHOWN = 20
"""Nodes that are told of one by one; the rest are counted."""


def preview(account: Account, data: JobIn) -> PreviewOut:
    """Raises:
    Problem: 422 naming the field, for a job that a launch would refuse too.
    """
    spec, rooms = read_spec(account, data), read_rooms()
    mine = as_waiting(account, data, spec, rooms)
    seen = look([mine], rooms)
    turn = seen.turn_of(mine.job)
    assert turn is not None
    if isinstance(turn.answer, Placed):
        return _would_run(turn, turn.answer, rooms)
    return _would_wait(turn, seen)


def as_waiting(account: Account, data: JobIn, spec: JobSpec, rooms: Sequence[Room]) -> Waiting:
    """What is not launched yet, as if it were in the queue."""
    taken = say_taken(spec, rooms)
    return Waiting(
        job=0,
        name=data.name,
        user=account.username,
        need=need_of(spec, wish_of(data.dict())),
        since=timezone.now(),
        priority=data.priority,
        held=f"Queued: {taken}." if taken else "",
    )


def _would_run(turn: Turn, placed: Placed, rooms: Sequence[Room]) -> PreviewOut:
    need, by_name = turn.waiting.need, {room.node: room for room in rooms}
    places = [PlaceOut(node=node, slots=need.on(by_name[node])) for node in placed.nodes]
    others = [room for room in rooms if room.node not in placed.nodes]
    is_short = len(places) < need.high
    more = f" It grows up to {need.high} as slots become free." if is_short else ""
    return PreviewOut(
        runs_on=places,
        says=f"It would start now on {_say_places(places)}.{more}",
        in_the_way=say_lacks(others, need) if is_short else [],
        place=None,
        waiting=0,
    )


def _say_places(places: Sequence[PlaceOut]) -> str:
    shown = [f"{place.node} ({count(place.slots, 'slot')})" for place in places[:SHOWN]]
    if len(places) > SHOWN:
        shown.append(f"{len(places) - SHOWN} more")
    return f"{count(len(places), 'node')}: {listed(shown)}"


def _would_wait(turn: Turn, seen: Plan) -> PreviewOut:
    return PreviewOut(
        runs_on=[],
        says=say_turn(turn, seen.waiting).replace("Queued: ", "It would wait: ", 1),
        in_the_way=say_lacks(turn.rooms, turn.waiting.need),
        place=len(turn.ahead) + 1,
        waiting=seen.waiting,
    )


def say_lacks(rooms: Sequence[Room], need: Need) -> list[str]:
    """Why each node that does not do does not, a sentence each."""
    fitting = {room.node for room in find_fitting(rooms, need)}
    lacking = [room for room in rooms if room.node not in fitting]
    said = [f"{say_lack(room, need)}." for room in lacking[:SHOWN]]
    more = len(lacking) - SHOWN
    return [*said, f"{count(more, 'other node')} will not do now either."] if more > 0 else said

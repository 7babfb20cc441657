"""Gives queued jobs their nodes, in their turn; those that go on waiting say why, and where they stand."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.db.models import F

from agents.wire.lifecycle import JobState
from webapp.database import take_turns

from .in_line import look
from .launch import begin_attempt, say_why_queued
from .models import Job, Wanted
from .news import job_changed
from .placement import Placed
from .queue import Plan, say_turn


def find_placeable() -> list[int]:
    """The queued jobs for which there is room, in their turn. The others are told why they wait."""
    said = _reasons()
    if not said:
        return []
    seen = look()
    _say_why_all_wait(seen, said)
    return [turn.waiting.job for turn in seen.turns if isinstance(turn.answer, Placed)]


def _say_why_all_wait(seen: Plan, said: Mapping[int, str]) -> None:
    """Write only what is new: this is asked every second."""
    for turn in seen.turns:
        if isinstance(turn.answer, Placed):
            continue
        why = say_turn(turn, seen.waiting)
        if said.get(turn.waiting.job) != why:
            say_why_queued(turn.waiting.job, why)


def _reasons() -> Mapping[int, str]:
    """What each job in the queue says now."""
    queued = Job.objects.filter(state=JobState.QUEUED.value)
    return dict(queued.values_list("pk", "state_reason"))


@transaction.atomic
def place(job_id: int) -> bool:
    """Give a queued job its next attempt if it is its turn; otherwise say on the job what is missing.

    True when an attempt was made, and the caller has the job's standing computed anew.
    """
    locked = Job.objects.select_for_update().get(pk=job_id)
    if locked.state != JobState.QUEUED.value or locked.wanted != Wanted.RUN:
        return False
    if locked.attempts.filter(ended_at=None).exists():
        return False
    # Of two that look for room at once, the second has to see what the first has taken.
    take_turns("placing")
    seen = look()
    turn = seen.turn_of(locked.pk)
    if turn is None:
        return False
    if not isinstance(turn.answer, Placed):
        say_why_queued(locked.pk, say_turn(turn, seen.waiting))
        return False
    begin_attempt(locked, turn.answer.nodes, {room.node: turn.waiting.need.on(room) for room in seen.rooms})
    Job.objects.filter(pk=locked.pk).update(version=F("version") + 1)
    job_changed(locked.id)
    return True

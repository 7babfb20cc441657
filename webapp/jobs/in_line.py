"""The queue as the rows have it: who waits, what each person's jobs have, who would get which nodes now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, Sum

from agents.wire.lifecycle import JobState

from .launch import need_again, need_now
from .meeting import say_taken
from .models import Attempt, Job, Member, Wanted
from .placement import Room, find_fitting
from .queue import Limits, Plan, Share, Waiting, plan
from .relaunch import is_held_back
from .rooms import read_rooms
from .sealed import why_closed
from .specs import spec_of


def look(more: Sequence[Waiting] = (), rooms: Sequence[Room] | None = None) -> Plan:
    """Who would get which nodes now. ``more``: as if these were in the queue too."""
    rooms = read_rooms() if rooms is None else rooms
    return plan(rooms, [*read_queue(rooms), *more], limits_of_each(), read_shares())


def read_queue(rooms: Sequence[Room]) -> list[Waiting]:
    """The jobs that may start as soon as there is room."""
    queued = Job.objects.filter(state=JobState.QUEUED.value, wanted=Wanted.RUN)
    attempts = Attempt.objects.filter(job=OuterRef("pk"))
    queued = queued.exclude(Exists(attempts.filter(ended_at=None))).annotate(has_attempts=Exists(attempts))
    jobs = queued.select_related("created_by").order_by("id")
    return [
        _waiting(job, rooms, job.has_attempts) for job in jobs if not (job.has_attempts and is_held_back(job))
    ]


def _waiting(job: Job, rooms: Sequence[Room], has_attempts: bool) -> Waiting:
    taken, closed = say_taken(spec_of(job), rooms), why_closed(job)
    return Waiting(
        job=job.id,
        name=job.name,
        user=job.created_by.username,
        need=need_again(job) if has_attempts else need_now(job),
        since=job.created_at,
        priority=job.priority,
        held=f"Queued: {closed}" if closed else f"Queued: {taken}." if taken else "",
    )


def limits_of_each() -> Limits:
    return Limits(slots=settings.USER_SLOTS, jobs=settings.USER_JOBS)


def read_shares() -> dict[str, Share]:
    """What each person's jobs have, also what is only just ending. One that waits anew does not run."""
    owner = "attempt__job__created_by__username"
    runs = ~Q(attempt__job__state=JobState.QUEUED.value)
    held = Member.objects.filter(settled_at=None).order_by().values(owner)
    found = held.annotate(used=Sum("slots"), running=Count("attempt__job", distinct=True, filter=runs))
    return {row[owner]: Share(row["used"], row["running"]) for row in found}


@dataclass
class Growth:
    """What a job that runs may take beside the nodes it has, and what its owner may still use."""

    nodes: frozenset[str]
    left: int | None
    """None: any number of slots."""

    def take(self, slots: int) -> None:
        self.left = None if self.left is None else self.left - slots

    def allows(self, node: str, slots: int) -> bool:
        return node in self.nodes and (self.left is None or slots <= self.left)


def read_growth(job: Job) -> Growth:
    """Nothing that a job in the queue gets now, or that is kept for the first of them."""
    fitting = find_fitting(look().rooms, need_now(job))
    share = read_shares().get(job.created_by.username, Share())
    left = settings.USER_SLOTS - share.slots if settings.USER_SLOTS else None
    return Growth(frozenset(room.node for room in fitting), left)

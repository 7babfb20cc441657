"""Ends a job whose time is over: as after a stop, and told so beforehand.

What counts is how long its attempts have lasted, each from its placing on; waiting in the queue is free.
All of it follows from rows, so that a hub that was away stops the job as soon as it is back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F
from django.utils import timezone

from agents.wire.time_limit import read_time_limit

from .launch import stop_others
from .models import Attempt, Job, Wanted
from .schemas import TimeLimitOut
from .situation import JobFacts, first_to_break, is_over
from .words import span


@dataclass(frozen=True)
class Lasted:
    """An attempt."""

    began_at: datetime
    ended_at: datetime | None = None
    """None: it runs."""


def used_s(attempts: Sequence[Lasted], now: datetime) -> float:
    return sum(((one.ended_at or now) - one.began_at).total_seconds() for one in attempts)


def is_up_at(limit_s: float, attempts: Sequence[Lasted]) -> datetime | None:
    """None: no attempt runs, so that its time stands still."""
    running = next((one.began_at for one in attempts if one.ended_at is None), None)
    if running is None:
        return None
    return running + timedelta(seconds=limit_s - used_s([one for one in attempts if one.ended_at], running))


def limit_of(job: Job) -> float | None:
    text = job.spec.get("time_limit")
    return read_time_limit(text) if text else None


def stop_if_over(job: Job, facts: JobFacts) -> bool:
    """Want it stopped if its time is over and it would go on. Call with the job locked; true if so."""
    limit_s = limit_of(job)
    if limit_s is None or job.wanted == Wanted.STOP or is_over(facts) or first_to_break(facts):
        return False
    up_at = is_up_at(limit_s, _attempts(job))
    if up_at is None or timezone.now() < up_at:
        return False
    _stop(job, f"its time limit of {span(limit_s)} is over")
    return True


def _stop(job: Job, why: str) -> None:
    job.wanted, job.stop_reason = Wanted.STOP, why
    row = Job.objects.filter(pk=job.pk, wanted=Wanted.RUN)
    row.update(wanted=job.wanted, stop_reason=why, version=F("version") + 1)
    for attempt in Attempt.objects.filter(job=job, ended_at=None):
        stop_others(attempt, why)


def _attempts(job: Job) -> list[Lasted]:
    return [Lasted(*row) for row in job.attempts.values_list("created_at", "ended_at")]


def time_limit_out(job: Job, time_left_s: float | None, now: datetime) -> TimeLimitOut | None:
    """``time_left_s``: what it has still to train, where that is known."""
    limit_s = limit_of(job)
    if limit_s is None:
        return None
    attempts = _attempts(job)
    up_at = is_up_at(limit_s, attempts)
    left_s = max(0.0, limit_s - used_s(attempts, now))
    return TimeLimitOut(
        limit_s=limit_s,
        left_s=round(left_s, 1),
        is_up_at=up_at,
        is_too_short=up_at is not None and time_left_s is not None and time_left_s > left_s,
    )

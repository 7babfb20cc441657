"""Celery's tasks: each looks at rows, decides and writes rows. All may run twice, and none waits."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps

import redis
from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from agents.wire import streams
from agents.wire.lifecycle import JobState
from webapp.celery import app
from webapp.database import is_trouble
from webapp.redis import say_alive

from .apply import restand, restand_or_log
from .drain import carry_on as carry_on_draining
from .facts import facts_of
from .late_commands import end_late
from .launch import TERMINAL, stop_others
from .locks import lock_jobs
from .log_shipping import ship_some
from .metric_thinning import thin_once
from .models import Attempt, Job, Member, Wanted
from .placing import find_placeable, place
from .samples import Samples, read_samples
from .situation import why_end_the_rest
from .stall_watch import end_left_behind

log = logging.getLogger("regroup.jobs")


def repeated(task: Callable[[], int]) -> Callable[[], int]:
    """The next beat does what the database did not let this one do."""

    @wraps(task)
    def once() -> int:
        try:
            return task()
        except DatabaseError as error:
            if not is_trouble(error):
                raise
            log.warning("left for the next time task=%s error=%s", task.__name__, error)
            return 0

    return once


@app.task(name="regroup.place_queued")
@repeated
def place_queued() -> int:
    """Look at the whole queue once; gives how many were placed."""
    return sum(_place_one(job_id) for job_id in find_placeable())


def _place_one(job_id: int) -> bool:
    with transaction.atomic():
        placed = place(job_id)
        if placed:
            restand(job_id)
    return placed


@app.task(name="regroup.reconcile")
@repeated
def reconcile() -> int:
    """Ask nodes to end what should not run any more, and give those attempts that run what they need.

    Gives how many were asked to end. It is due every second, so that it also shows that Celery is at work.
    """
    with suppress(redis.RedisError):
        say_alive(streams.CELERY)
    ended = sum(_end_attempt(attempt) for attempt in _unwanted())
    carry_on_draining()
    end_left_behind()
    running = list(_running())
    samples = _read_samples(running)
    for job in running:
        # What no record tells: a node that stays silent, one that has got room, workers that stand still.
        restand_or_log(job.pk, is_news=False, samples=samples)
    return ended


def _read_samples(jobs: Sequence[Job]) -> Samples:
    live = Member.objects.filter(attempt__job__in=jobs, attempt__ended_at=None, settled_at=None)
    return read_samples(live.values_list("node", flat=True))


def _running() -> QuerySet[Job]:
    live = Exists(Attempt.objects.filter(job=OuterRef("pk"), ended_at=None))
    return Job.objects.filter(live, wanted=Wanted.RUN).exclude(state__in=TERMINAL).order_by("pk")


def _unwanted() -> QuerySet[Attempt]:
    """Attempts that may still run although they or their job are over, or one of their nodes has failed."""
    members = Member.objects.filter(attempt=OuterRef("pk"))
    is_over = (
        Q(job__wanted=Wanted.STOP)
        | Q(job__state__in=TERMINAL)
        | Q(ended_at__isnull=False)
        | Exists(members.filter(folded__outcome__in=("failed", "succeeded")))
    )
    running = Attempt.objects.filter(Exists(members.filter(settled_at=None)))
    return running.filter(is_over).select_related("job__stopped_by").order_by("created_at")


@transaction.atomic
def _end_attempt(attempt: Attempt) -> int:
    lock_jobs([attempt.job_id])
    job = attempt.job
    if job.wanted == Wanted.STOP:
        return stop_others(attempt, job.stop_reason or f"job {job.id} is stopped", by=job.stopped_by)
    is_over = JobState(job.state).is_terminal or attempt.ended_at is not None
    why = "the attempt is over" if is_over else why_end_the_rest(facts_of(job))
    return 0 if why is None else stop_others(attempt, why)


@app.task(name="regroup.thin_metrics")
@repeated
def thin_metrics() -> int:
    """Remove short stretches of metrics that are old; gives how many. What is left is for the next time."""
    return thin_once()


@app.task(name="regroup.expire_commands")
@repeated
def expire_commands() -> int:
    """End what no node took in time; gives how many. Ingest does the same, so that it needs no Celery."""
    return end_late()


@app.task(name="regroup.ship_logs")
@repeated
def ship_logs() -> int:
    """Bring a little more of the logs of ended workers into the log store; gives how many pieces."""
    try:
        return ship_some()
    except redis.RedisError:
        return 0

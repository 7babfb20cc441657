"""What ingest does once a second beside its batches, so that it needs no Celery."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping

import redis
from django.db import transaction

from agents.wire import streams
from agents.wire.clock import Offset, OwnClock
from agents.wire.lifecycle import JobState
from webapp.fleet.leases import Lease, note_leases, read_leases
from webapp.fleet.outbox import send_lost, send_waiting
from webapp.jobs.apply import restand
from webapp.jobs.late_commands import end_late
from webapp.jobs.launch import say_why_queued
from webapp.jobs.models import Job, Member, Wanted
from webapp.live.notify import nodes_changed
from webapp.redis import age_of, get_redis

EVERY_S = 1.0
STILL_S, START_S = 10.0, 30.0
"""Seconds after which Celery stands still: without a task, and without its first one since our start."""
WITHOUT_CELERY = "Queued: Celery, which places jobs, does not move. See /api/health, and start it."
QUEUE = "regroup:celery:regroup"
MOST_QUEUED = 1000
"""Messages that wait for Celery: all but the newest say the same again."""

_clock = OwnClock()
_begun = time.monotonic()


def do() -> None:
    """Raises ``redis.RedisError`` or a database error; then it is done again a second later."""
    try:
        _say_alive()
        leases, hub_clock = read_leases(), _clock.offset(_ask_time)
    except redis.RedisError:
        _clock.forget()
        note({})
        raise
    note(leases, hub_clock)
    send_waiting()
    send_lost()
    end_late()
    _look_after_celery()


def _look_after_celery() -> None:
    """While it stands still, queued jobs say so, and what waits for it does not fill Redis."""
    get_redis().ltrim(QUEUE, 0, MOST_QUEUED - 1)
    age_s = age_of(streams.CELERY)
    stands_still = time.monotonic() - _begun > START_S if age_s is None else age_s > STILL_S
    if not stands_still:
        return
    for job in Job.objects.filter(state=JobState.QUEUED.value, wanted=Wanted.RUN):
        say_why_queued(job.pk, WITHOUT_CELERY)


def _ask_time() -> tuple[int, int]:
    return get_redis().time()


def _say_alive() -> None:
    pipeline = get_redis().pipeline(transaction=False)
    pipeline.set(streams.EPOCH, secrets.token_hex(8), nx=True)
    pipeline.set(streams.INGEST, f"{time.time():.3f}", ex=streams.INGEST_S)
    pipeline.execute()


def note(leases: Mapping[str, Lease], hub_clock: Offset | None = None) -> None:
    """Who was heard; where that changes a word, the jobs of the node say so."""
    noted = note_leases(leases, hub_clock)
    if noted.states or noted.others:
        nodes_changed()
    for job_id in sorted(_jobs_on(noted.states)):
        with transaction.atomic():
            restand(job_id)


def _jobs_on(nodes: set[str]) -> set[int]:
    living = Member.objects.filter(node__in=nodes, settled_at=None)
    return set(living.values_list("attempt__job_id", flat=True))

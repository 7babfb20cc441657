"""What ingest does once a second beside its batches, so that it needs no Celery."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping

import redis
from django.db import transaction

from agents.wire import streams
from webapp.fleet.leases import note_heard, read_leases
from webapp.fleet.outbox import send_waiting
from webapp.jobs.apply import restand
from webapp.jobs.models import Member
from webapp.live.notify import nodes_changed
from webapp.redis import get_redis

EVERY_S = 1.0


def do() -> None:
    """Raises ``redis.RedisError`` or a database error; then it is done again a second later."""
    try:
        _say_alive()
        silences = read_leases()
    except redis.RedisError:
        note({})
        raise
    note(silences)
    send_waiting()


def _say_alive() -> None:
    pipeline = get_redis().pipeline(transaction=False)
    pipeline.set(streams.EPOCH, secrets.token_hex(8), nx=True)
    pipeline.set(streams.INGEST, f"{time.time():.3f}", ex=streams.INGEST_S)
    pipeline.execute()


def note(silences: Mapping[str, float | None]) -> None:
    """Who was heard; where that changes a word, the jobs of the node say so."""
    changed = note_heard(silences)
    if not changed:
        return
    nodes_changed()
    for job_id in sorted(_jobs_on(changed)):
        with transaction.atomic():
            restand(job_id)


def _jobs_on(nodes: set[str]) -> set[int]:
    living = Member.objects.filter(node__in=nodes, settled_at=None)
    return set(living.values_list("attempt__job_id", flat=True))

"""What ingest does once a second beside its batches, so that it needs no Celery."""

from __future__ import annotations

import secrets
import time

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
    client = get_redis()
    client.set(streams.EPOCH, secrets.token_hex(8), nx=True)
    client.set(streams.INGEST, f"{time.time():.3f}", ex=streams.INGEST_S)
    changed = note_heard(read_leases())
    if changed:
        nodes_changed()
        for job_id in sorted(_jobs_on(changed)):
            restand(job_id)
    send_waiting()


def _jobs_on(nodes: set[str]) -> set[int]:
    living = Member.objects.filter(node__in=nodes, settled_at=None)
    return set(living.values_list("attempt__job_id", flat=True))

"""Whether what the page shows can be fresh: does Redis answer, and is ingest at work?"""

from __future__ import annotations

import time
from dataclasses import dataclass

import redis
from asgiref.sync import sync_to_async

from agents.wire import streams
from webapp.redis import get_redis


@dataclass(frozen=True)
class Pulse:
    redis: bool
    ingest_age_s: float | None
    """Seconds since ingest's last turn. None: not known."""


@sync_to_async(thread_sensitive=False)
def read_pulse() -> Pulse:
    try:
        written = get_redis().get(streams.INGEST)
    except redis.RedisError:
        return Pulse(False, None)
    if not isinstance(written, bytes):
        return Pulse(True, None)
    return Pulse(True, round(max(0.0, time.time() - float(written)), 1))

"""Whether what the page shows can be fresh: does Redis take what is written, and is ingest at work?"""

from __future__ import annotations

from dataclasses import dataclass

import redis
from asgiref.sync import sync_to_async

from agents.wire import streams
from webapp.redis import age_of, describe, find_problem


@dataclass(frozen=True)
class Pulse:
    problem: str | None
    """Why Redis cannot be used, as a sentence."""
    ingest_age_s: float | None
    """Seconds since ingest's last turn. None: not known."""

    @property
    def redis(self) -> bool:
        return self.problem is None


@sync_to_async(thread_sensitive=False)
def read_pulse() -> Pulse:
    problem = find_problem()
    try:
        age_s = age_of(streams.INGEST)
    except redis.RedisError as error:
        return Pulse(problem or describe(error), None)
    return Pulse(problem, None if age_s is None else round(age_s, 1))

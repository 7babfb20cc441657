"""The connections to Redis: one quick to give up, one that may wait."""

from __future__ import annotations

import time
from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from agents.wire import bus, streams

TIMEOUT_S = 2.0


def _once_more() -> Retry:
    """Enough for a connection that a restart of the server has cut; redis-py itself would try ten times."""
    return Retry(NoBackoff(), 1)


def get_redis() -> redis.Redis:
    """For short questions: an answer within 4 s, or a ``redis.RedisError``."""
    return _quick(settings.REDIS_URL)


def find_problem() -> str | None:
    """Why Redis cannot be used now, as a sentence; None while it takes what is written."""
    try:
        get_redis().set(streams.PROBE, "1", ex=60)
    except redis.RedisError as error:
        return describe(error)
    return None


def say_alive(key: str) -> None:
    """Note a sign of life, by this machine's clock. Raises ``redis.RedisError``."""
    get_redis().set(key, f"{time.time():.3f}", ex=streams.INGEST_S)


def age_of(key: str) -> float | None:
    """Seconds since that sign of life; None when there was none for a minute. Raises ``redis.RedisError``."""
    written = get_redis().get(key)
    return max(0.0, time.time() - float(written)) if isinstance(written, bytes) else None


def describe(error: redis.RedisError) -> str:
    """What has happened to Redis, as one sentence that says what to do about it."""
    if isinstance(error, redis.OutOfMemoryError):
        return (
            "Redis is full and takes nothing more: give it more memory (maxmemory), or remove what fills it."
        )
    if "read-only replica" in str(error):
        return (
            "Redis has become a read-only replica, as after a fail-over: "
            "REGROUP_REDIS_URL must lead to the server that is the master now."
        )
    if str(error).startswith("MISCONF"):
        return "Redis cannot write to its disk and takes nothing more: look at the disk of its data folder."
    if isinstance(error, redis.BusyLoadingError):
        return "Redis is reading its data from the disk after a start; it answers once that is done."
    return f"Redis does not answer: {str(error).rstrip('.')}."


def get_blocking_redis() -> redis.Redis:
    """For calls that wait on the server, such as XREAD with BLOCK: never times out by itself."""
    return _patient(settings.REDIS_URL)


@cache
def _quick(url: str) -> redis.Redis:
    return bus.connect(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S, retry=_once_more())


@cache
def _patient(url: str) -> redis.Redis:
    # redis-py 8 sets 5 s where nothing is said, which breaks every longer wait.
    return bus.connect(url, socket_timeout=None, socket_connect_timeout=TIMEOUT_S, retry=_once_more())

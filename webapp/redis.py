"""The connections to Redis: one quick to give up, one that may wait."""

from __future__ import annotations

from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

TIMEOUT_S = 2.0


def _once_more() -> Retry:
    """Enough for a connection that a restart of the server has cut; redis-py itself would try ten times."""
    return Retry(NoBackoff(), 1)


def get_redis() -> redis.Redis:
    """For short questions: an answer within 4 s, or a ``redis.RedisError``."""
    return _quick(settings.REDIS_URL)


def get_blocking_redis() -> redis.Redis:
    """For calls that wait on the server, such as XREAD with BLOCK: never times out by itself."""
    return _patient(settings.REDIS_URL)


@cache
def _quick(url: str) -> redis.Redis:
    return redis.Redis.from_url(
        url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S, retry=_once_more()
    )


@cache
def _patient(url: str) -> redis.Redis:
    # redis-py 8 sets 5 s where nothing is said, which breaks every longer wait.
    return redis.Redis.from_url(
        url, socket_timeout=None, socket_connect_timeout=TIMEOUT_S, retry=_once_more()
    )

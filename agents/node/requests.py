"""Answers what the hub wants to read: at once, and without a trace."""

from __future__ import annotations

import logging
from pathlib import Path

from redis import Redis

from ..wire import streams
from ..wire.codec import Unreadable, read_request, to_json
from .link import BLOCK_S
from .logs import read_slice

log = logging.getLogger("regroup.agent")

KEPT_S = 10
"""Seconds that an answer waits for whoever asked."""


class Requests:
    def __init__(self, redis: Redis, node: str, data: Path) -> None:
        self._redis = redis
        self._node = node
        self._data = data

    def step(self) -> None:
        popped = self._redis.blpop([streams.requests(self._node)], timeout=BLOCK_S)
        if popped is not None:
            self._answer(str(popped[1]))

    def _answer(self, body: str) -> None:
        try:
            request = read_request(body)
        except Unreadable as error:
            log.error("request cannot be read error=%s body=%.200s", error, body)
            return
        pipe = self._redis.pipeline(transaction=False)
        pipe.rpush(streams.answer(request.id), to_json(read_slice(request, self._data, self._node)))
        pipe.expire(streams.answer(request.id), KEPT_S)
        pipe.execute()

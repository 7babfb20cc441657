"""The sign of life: a lease in Redis, renewed every second. It also says when Redis is lost and found."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import threading
from collections.abc import Callable
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from .. import procs
from ..wire import streams
from ..wire.clock import OwnClock
from ..wire.plain import now

log = logging.getLogger("regroup.agent")

PERIOD_S = 1.0

Words = Callable[[], dict[str, Any]]
"""Gives what else there is to tell: free slots, attempts, troubles, how far the journal goes."""


class Heartbeat:
    def __init__(
        self,
        redis: Redis,
        node: str,
        slots: int,
        words: Words,
        stopping: threading.Event,
    ) -> None:
        self._redis = redis
        self._node = node
        self._slots = slots
        self._words = words
        self._stopping = stopping
        self._boot_id = procs.boot_id()
        self._is_lost = False
        self._clock = OwnClock()

    def step(self) -> None:
        try:
            self._beat()
        except RedisError as error:
            self._clock.forget()
            self._say_lost(error)
            raise
        if self._is_lost:
            self._is_lost = False
            log.info("redis is back node=%s", self._node)
        self._stopping.wait(PERIOD_S)

    def _beat(self) -> None:
        pipe = self._redis.pipeline(transaction=False)
        pipe.set(streams.lease(self._node), self._lease(), ex=streams.LEASE_S)
        pipe.sadd(streams.NODES, self._node)
        pipe.execute()

    def _lease(self) -> str:
        offset = self._clock.offset(self._ask_time)
        return json.dumps(
            {
                "node": self._node,
                "pid": os.getpid(),
                "boot_id": self._boot_id,
                "slots": self._slots,
                **self._words(),
                "at": now().isoformat(timespec="milliseconds"),
                "clock": None if offset is None else dataclasses.asdict(offset),
            }
        )

    def _ask_time(self) -> tuple[int, int]:
        return self._redis.time()

    def _say_lost(self, error: RedisError) -> None:
        if not self._is_lost:
            self._is_lost = True
            log.warning(
                "redis cannot be used, runners go on and records wait on the disk node=%s error=%s",
                self._node,
                error,
            )

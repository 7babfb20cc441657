"""The ingest process: takes batch after batch, and once a second looks after what must not wait."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import redis
from django.db import Error as DatabaseError
from django.db import close_old_connections, connection

from webapp.redis import get_redis

from . import chores
from .batch import SomeoneElseWasFirst, take_batch
from .reader import Reader

log = logging.getLogger("regroup.ingest")

BLOCK_MS = 500
"""Less than what the connection waits for an answer, so that a server that hangs is noticed."""
PAUSE_S = 0.005
"""Between batches that follow on each other, so that other writers get the database."""
LONGEST_WAIT_S = 2.0


@dataclass
class Loop:
    should_end: Callable[[], bool]
    wait_s: float = 0.0
    """Grows while something does not answer."""
    next_chores: float = 0.0
    said: set[str] = field(default_factory=set)

    def run(self) -> None:
        reader = Reader(get_redis())
        while not self.should_end():
            try:
                self._turn(reader)
                self._well()
            except SomeoneElseWasFirst as error:
                log.info("another ingest was first source=%s", error)
                reader.start_over()
            except redis.RedisError as error:
                self._trouble("redis", error)
                reader.start_over()
            except DatabaseError as error:
                self._trouble("database", error)
                close_old_connections()
                connection.close()
                reader.start_over()
            except Exception:
                log.exception("a turn failed; going on with the next")
                reader.start_over()
                time.sleep(LONGEST_WAIT_S)

    def _turn(self, reader: Reader) -> None:
        if time.monotonic() >= self.next_chores:
            self.next_chores = time.monotonic() + chores.EVERY_S
            reader.find_nodes()
            chores.do()
        entries = reader.read(BLOCK_MS)
        if not entries:
            if not reader.has_nodes:
                time.sleep(BLOCK_MS / 1000)
            return
        taken = take_batch(entries)
        for source, (expected, came) in taken.gaps.items():
            self._say(
                f"gap {source} {expected}",
                "records missing source=%s expected=%s came=%s",
                source,
                expected,
                came,
            )
        reader.acknowledge(taken)
        time.sleep(PAUSE_S)

    def _trouble(self, what: str, error: Exception) -> None:
        self._say(what, "%s does not answer, nothing is acknowledged: %s", what, error)
        self.wait_s = min(LONGEST_WAIT_S, self.wait_s * 2 or 0.1)
        time.sleep(self.wait_s)

    def _well(self) -> None:
        if self.wait_s:
            log.info("everything answers again")
            self.wait_s = 0.0
            self.said.clear()

    def _say(self, once: str, message: str, *values: object) -> None:
        if once not in self.said:
            self.said.add(once)
            log.warning(message, *values)

"""The ingest process: takes batch after batch, and once a second looks after what must not wait."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import redis
from django.db import Error as DatabaseError
from django.db import close_old_connections, connection, transaction

from webapp.events.models import Source
from webapp.redis import get_redis

from . import chores
from .batch import SomeoneElseWasFirst, Taken, take_batch
from .entries import Entry
from .pace import Pace
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
    pace: Pace = field(default_factory=Pace)
    read: list[Entry] = field(default_factory=list)
    """Read, and not taken yet."""

    def run(self) -> None:
        reader = Reader(get_redis())
        while not self.should_end():
            try:
                self._turn(reader)
                self._well()
            except SomeoneElseWasFirst as error:
                log.info("another ingest was first source=%s", error)
                self._start_over(reader)
            except redis.RedisError as error:
                self._trouble("redis", error)
                self._start_over(reader)
            except DatabaseError as error:
                self._trouble("database", error)
                close_old_connections()
                connection.close()
                self._start_over(reader)
            except Exception:
                log.exception("a turn failed; going on with the next")
                self._start_over(reader)
                time.sleep(LONGEST_WAIT_S)

    def _turn(self, reader: Reader) -> None:
        if time.monotonic() >= self.next_chores or self.wait_s:
            self.next_chores = time.monotonic() + chores.EVERY_S
            _require_database()
            reader.find_nodes()
            chores.do()
        self.read = self.read or reader.read(BLOCK_MS)
        if not self.read:
            if not reader.has_nodes:
                time.sleep(BLOCK_MS / 1000)
            return
        batch, self.read = self.read[: self.pace.size], self.read[self.pace.size :]
        with self.pace.batch(len(batch)):
            taken = take_batch(batch)
        self._say_gaps(taken)
        reader.acknowledge(taken)
        time.sleep(PAUSE_S)

    def _start_over(self, reader: Reader) -> None:
        self.read = []
        reader.start_over()

    def _say_gaps(self, taken: Taken) -> None:
        for source, (expected, came) in taken.gaps.items():
            self._say(
                f"gap {source} {expected}",
                "records missing source=%s expected=%s came=%s",
                source,
                expected,
                came,
            )

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


def _require_database() -> None:
    """Before saying that ingest turns: without the database it does not.

    Raises:
        DatabaseError: it cannot be read, or on SQLite another process does not let go of it.
    """
    with transaction.atomic():
        Source.objects.exists()

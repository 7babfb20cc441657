"""What the topics hold, read once for all sockets of this process that want it at the same time.

Each asks for a reading that was begun after it had heard of a change. One that somebody else has begun since
then is as good as its own.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from weakref import WeakValueDictionary

from .frames import Json, change_of
from .topics import read_topic


@dataclass(frozen=True, eq=False)
class Reading:
    version: int | None
    data: Json
    begun_at: float
    """By the monotonic clock."""
    took_s: float


class Readings:
    """Of one topic. What is given is shared: nobody may change it."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self._latest: Reading | None = None
        self._lock = asyncio.Lock()
        self._told: tuple[Json, Json, str | None] | None = None

    async def after(self, since: float) -> Reading:
        """Raises ``UnknownTopic`` or a database error, as ``read_topic`` does."""
        async with self._lock:
            if self._latest is None or self._latest.begun_at <= since:
                self._latest = await self._read()
            return self._latest

    async def _read(self) -> Reading:
        begun_at = time.monotonic()
        version, data = await read_topic(self.topic)
        return Reading(version, data, begun_at, time.monotonic() - begun_at)

    def change(self, before: Json, after: Json) -> str | None:
        """What differs, as JSON; None when nothing does. Most sockets have come from the same reading."""
        if self._told is None or self._told[0] is not before or self._told[1] is not after:
            change = change_of(self.topic, before, after)
            self._told = (before, after, None if change is None else json.dumps(change))
        return self._told[2]


_shared: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, str], Readings] = WeakValueDictionary()
"""Held by those who are subscribed."""


def readings_of(topic: str) -> Readings:
    """Those of this event loop, to which a lock belongs."""
    key = (asyncio.get_running_loop(), topic)
    found = _shared.get(key)
    if found is None:
        found = _shared[key] = Readings(topic)
    return found

"""How far a clock is from Redis's, which node and hub both can read. Standard library only.

As NTP does it: Redis is asked for its time, and is taken to have read it in the middle between question and
answer. It may have been any moment between them, so half the round trip is the error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

EVERY_S = 30.0
TRIES = 5

AskTime = Callable[[], "tuple[int, int]"]
"""Redis's TIME: seconds, and microseconds of the second."""


@dataclass(frozen=True)
class Reading:
    """One question: when it was sent and answered by the own clock, and what Redis's clock said."""

    sent: float
    server: float
    received: float


@dataclass(frozen=True)
class Offset:
    """How much a clock is ahead of another; it lies within ``error_s`` of ``offset_s``."""

    offset_s: float
    error_s: float


def offset_of(readings: Sequence[Reading]) -> Offset | None:
    """Of the own clock from Redis's, by the reading with the shortest round trip.

    One whose answer came before its question saw the own clock being set, and says nothing.
    """
    sound = [reading for reading in readings if reading.received >= reading.sent]
    if not sound:
        return None
    best = min(sound, key=lambda reading: reading.received - reading.sent)
    return Offset((best.sent + best.received) / 2 - best.server, (best.received - best.sent) / 2)


def between(one: Offset, other: Offset) -> Offset:
    """How much ``one`` is ahead of ``other``, both measured from the same Redis."""
    return Offset(one.offset_s - other.offset_s, one.error_s + other.error_s)


def read_once(ask_time: AskTime, wall: Callable[[], float] = time.time) -> Reading:
    sent = wall()
    seconds, microseconds = ask_time()
    return Reading(sent, seconds + microseconds / 1e6, wall())


class OwnClock:
    """The own clock's offset from Redis's, measured anew every ``EVERY_S``."""

    def __init__(self) -> None:
        self._offset: Offset | None = None
        self._measured_at = 0.0

    def offset(self, ask_time: AskTime) -> Offset | None:
        """What was measured last; asks ``TRIES`` times when that is too long ago. Passes errors on."""
        if self._offset is None or time.monotonic() - self._measured_at > EVERY_S:
            self._offset = offset_of([read_once(ask_time) for _ in range(TRIES)])
            self._measured_at = time.monotonic()
        return self._offset

    def forget(self) -> None:
        """Redis was lost: the next one may be another, with a clock of its own."""
        self._offset = None

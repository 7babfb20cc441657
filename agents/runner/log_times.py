"""Notes beside each stream of a round when it has grown, so that its lines can be told by time."""

from __future__ import annotations

import time
from pathlib import Path

from ..bundle import Bundle
from ..logs.source import STREAMS
from ..logs.times import append, encode

LOOK_S = 0.25
"""So precise are the times of lines."""


class LogTimes:
    """Looks at the streams of some ranks; costs one ``stat`` of each a look."""

    def __init__(self, bundle: Bundle, round_number: int, ranks: list[int]) -> None:
        self._sizes = {bundle.log(round_number, rank, stream): 0 for rank in ranks for stream in STREAMS}
        self._looked_ms = _now_ms()
        self._due = time.monotonic()

    def look(self, flush: bool = False) -> None:
        """Raises nothing: a time that cannot be noted, as on a full disk, is not worth more."""
        now = time.monotonic()
        if now < self._due and not flush:
            return
        self._due = now + LOOK_S
        at_ms = max(_now_ms(), self._looked_ms)
        for path, size in self._sizes.items():
            self._sizes[path] = _note(path, size, at_ms, at_ms - self._looked_ms)
        self._looked_ms = at_ms


def _note(path: Path, size: int, at_ms: int, within_ms: int) -> int:
    """Gives how much of the stream has been noted by now."""
    try:
        grown = path.stat().st_size
        if grown > size:
            append(path, encode(at_ms, grown, within_ms))
            return grown
    except OSError:
        pass
    return size


def _now_ms() -> int:
    return int(time.time() * 1000)

"""Gathers what torch's elastic agent puts as metrics: one record tells half a minute of them. Pure."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass

from ..wire.runner_events import TorchMetric

GATHER_S = 30.0
"""At most one record in this time; the end of a round does not wait."""
MOST = 100
"""Names that are gathered at most: whoever puts more has put an id into a name."""


@dataclass
class _Sum:
    count: int
    sum: float
    min: float
    max: float


class PutMetrics:
    """Any thread may put; torch's loop puts several on each turn."""

    def __init__(self, begun_at: float) -> None:
        self._lock = threading.Lock()
        self._sums: dict[tuple[str, str], _Sum] = {}
        self._taken_at = begun_at

    def put(self, group: str, name: str, value: float) -> None:
        """What is no finite number is left out."""
        if not math.isfinite(value):
            return
        with self._lock:
            held = self._sums.get((group, name))
            if held is not None:
                held.count, held.sum = held.count + 1, held.sum + value
                held.min, held.max = min(held.min, value), max(held.max, value)
            elif len(self._sums) < MOST:
                self._sums[group, name] = _Sum(1, value, value, value)

    def take(self, now: float, flush: bool = False) -> tuple[TorchMetric, ...]:
        """What is due at ``now`` (seconds, monotonic); empty when nothing is."""
        with self._lock:
            if not self._sums or not (flush or now - self._taken_at >= GATHER_S):
                return ()
            sums, self._sums, self._taken_at = self._sums, {}, now
        return tuple(
            TorchMetric(group=group, name=name, count=of.count, sum=of.sum, min=of.min, max=of.max)
            for (group, name), of in sorted(sums.items())
        )

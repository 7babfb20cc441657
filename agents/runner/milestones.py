"""How far each rank of a round is on the way to its first steps, and to the pace it had before. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import datetime, timezone
from statistics import median

from ..wire.runner_events import Milestone, RankProgress, Reached
from .progress import Group, Report, ResumedFrom, Told

PACE_LINES = 4
"""The pace is told by so many reports of steps, one after the other."""
AS_BEFORE = 1.1
"""Steps that take up to so many times what they took before are of the same pace."""

Stepped = tuple[int, float]
"""A step, and when it was reported: seconds since the epoch."""


class Milestones:
    """Of one round on one node. ``before``: seconds for a step in the rounds before, where it is known."""

    def __init__(self, before: float | None = None) -> None:
        self._before = before
        self._reached: dict[int, set[Milestone]] = {}
        self._steps: dict[int, deque[Stepped]] = {}

    def take(self, rank: int, told: Told) -> list[Reached]:
        """What that rank has reached with this report, for the first time in the round."""
        if told.at is None:
            return []
        found: list[tuple[Milestone, float]] = [(what, told.at) for what in _of(told.report)]
        if isinstance(told.report, RankProgress):
            found += self._paced(rank, told.report.step, told.at)
        seen = self._reached.setdefault(rank, set())
        fresh = [(what, at) for what, at in found if what not in seen]
        seen.update(what for what, _ in fresh)
        return [Reached(rank=rank, what=what, at=_moment(at)) for what, at in fresh]

    def _paced(self, rank: int, step: int, at: float) -> Iterable[tuple[Milestone, float]]:
        steps = self._steps.setdefault(rank, deque(maxlen=PACE_LINES))
        steps.append((step, at))
        pace = seconds_a_step(steps)
        if pace is not None and self._before is not None and pace <= AS_BEFORE * self._before:
            yield "pace_regained", steps[0][1]

    @property
    def pace(self) -> float | None:
        """Seconds for a step now, the median of the ranks; what it was before where too few are reported."""
        paces = [pace for steps in self._steps.values() if (pace := seconds_a_step(steps)) is not None]
        return median(paces) if paces else self._before


def seconds_a_step(steps: deque[Stepped]) -> float | None:
    """None: too few are reported, or they do not grow."""
    if len(steps) < PACE_LINES:
        return None
    (first, began), (last, ended) = steps[0], steps[-1]
    return (ended - began) / (last - first) if last > first else None


def _of(report: Report) -> tuple[Milestone, ...]:
    if isinstance(report, Group):
        return ("group_up",) if report.is_up else ("group_begun",)
    if isinstance(report, ResumedFrom):
        return ("checkpoint_loaded",)
    return ("first_step",) if isinstance(report, RankProgress) else ()


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, timezone.utc)

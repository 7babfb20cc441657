"""What workers report through ``regroup_report``, and when it is worth a record. Pure."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import Any

from ..wire.runner_events import RankProgress

PROGRESS_S = 0.5
"""At most one record of progress in this time; the first step of a round does not wait."""
ACTIVITY_S = 2.0
"""At most one record of activity in this time."""


@dataclass(frozen=True)
class Saving:
    step: int


@dataclass(frozen=True)
class Saved:
    step: int
    path: str


@dataclass(frozen=True)
class ResumedFrom:
    step: int
    path: str


@dataclass(frozen=True)
class Group:
    """init_process_group was called, or has come back."""

    is_up: bool


Report = RankProgress | Saving | Saved | ResumedFrom | Group


@dataclass(frozen=True)
class Told:
    report: Report
    at: float | None = None
    """Seconds since the epoch by the worker's clock, which is the node's. None: not told."""
    is_from_log: bool = False
    """The script has not reported it; ``log_watch.py`` has read it from its output."""


def _read_metrics(values: dict[str, object]) -> dict[str, float]:
    """Numbers only: JSON, and so the browser, knows no NaN."""
    numbers = {str(name): float(value) for name, value in values.items()}  # type: ignore[arg-type]
    return {name: number for name, number in numbers.items() if math.isfinite(number)}


LATEST = 1e11
"""Seconds since the epoch beyond which a moment is none: what a script writes itself may be anything."""


def _read_moment(value: object) -> float | None:
    is_moment = isinstance(value, (int, float)) and 0 <= value < LATEST
    return float(value) if is_moment else None  # type: ignore[arg-type]  # a number, as was just seen


def read_report(line: str | bytes, rank: int) -> Told | None:
    """One line of a rank's report file; None when it is not a report."""
    try:
        values = json.loads(line)
        report = _report(values, rank)
        is_from_log = values.get("kind") == "log"
        return None if report is None else Told(report, _read_moment(values.get("at")), is_from_log)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _report(values: dict[str, Any], rank: int) -> Report | None:
    kind = values["kind"]
    if kind in ("group_begun", "group_up"):
        return Group(is_up=kind == "group_up")
    step = int(values["step"])
    if kind in ("step", "log"):
        total = values.get("total")
        metrics = _read_metrics(values.get("metrics", {}))
        return RankProgress(
            rank=rank, step=step, total=None if total is None else int(total), metrics=metrics
        )
    if kind == "saving":
        return Saving(step)
    if kind == "checkpoint":
        return Saved(step, str(values["path"]))
    return ResumedFrom(step, str(values["path"])) if kind == "resumed" else None


def joined(reported: RankProgress | None, read: RankProgress | None) -> RankProgress | None:
    """What a script reports counts before what is read in its output."""
    if reported is None or read is None:
        return reported or read
    total = read.total if reported.total is None else reported.total
    return replace(reported, total=total, metrics={**read.metrics, **reported.metrics})


@dataclass
class Coalescer:
    """Keeps the newest progress of each rank of one round until it is due."""

    newest: dict[int, RankProgress] = field(default_factory=dict)
    _told: dict[int, dict[bool, RankProgress]] = field(default_factory=dict)
    changed: bool = False
    has_reported: bool = False
    taken_at: float = float("-inf")

    def add(self, progress: RankProgress, is_from_log: bool = False) -> None:
        told = self._told.setdefault(progress.rank, {})
        told[is_from_log] = progress
        self.newest[progress.rank] = joined(told.get(False), told.get(True)) or progress
        self.changed = self.has_reported = True

    def take(self, now: float, flush: bool = False) -> tuple[RankProgress, ...]:
        """What is due at ``now`` (seconds, monotonic), by rank; empty when nothing is."""
        if not self.changed or not (flush or now - self.taken_at >= PROGRESS_S):
            return ()
        self.changed, self.taken_at = False, now
        return tuple(self.newest[rank] for rank in sorted(self.newest))


@dataclass
class ActivityGate:
    """Lets the time of the last output through when it has changed, but not often."""

    last_output: float = 0.0
    taken_at: float = float("-inf")

    def take(self, last_output: float, now: float) -> bool:
        if last_output <= self.last_output or now - self.taken_at < ACTIVITY_S:
            return False
        self.last_output, self.taken_at = last_output, now
        return True

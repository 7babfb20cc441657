"""How long a job has still to train, by the pace of its last minutes of training in this attempt. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from agents.wire.lifecycle import RunnerState

LEAST_S = 10.0
"""A pace that was seen for less says little, as the first steps of a round are slow."""


def time_left_s(step: int | None, total: int | None, runners: Sequence[RunnerState]) -> float | None:
    """None: not known. What stands still has no pace that anything could be told from.

    Ranks wait for each other, so that the slowest tells; how long restarts took does not count.
    """
    paces = [
        runner.recent_pace
        for runner in runners
        if runner.recent_pace is not None and runner.paced_s >= LEAST_S
    ]
    if step is None or total is None or not paces or min(paces) <= 0:
        return None
    return max(0, total - step) / min(paces)

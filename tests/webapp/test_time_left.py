"""How long a job still has to train: by the pace of late, over restarts, and only where it is known."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from agents.wire.lifecycle import RunnerState, fold
from agents.wire.runner_events import Progress, RankProgress, WorkersStarted
from tests.wire.records import BEGAN, NODE, RESTART, UP, fold_all, history, record
from webapp.jobs.time_left import time_left_s


def paced(pace: float | None, seen_s: float = 60.0) -> RunnerState:
    return RunnerState(recent_pace=pace, paced_s=seen_s)


@pytest.mark.parametrize(
    ("step", "total", "runners", "left_s"),
    [
        (400, 1000, [paced(2.0)], 300.0),
        (400, 1000, [paced(2.0), paced(1.5), paced(None)], 400.0),
        (1000, 1000, [paced(2.0)], 0.0),
        (1010, 1000, [paced(2.0)], 0.0),
        (400, None, [paced(2.0)], None),
        (None, 1000, [paced(2.0)], None),
        (400, 1000, [], None),
        (400, 1000, [paced(0.0)], None),
        (400, 1000, [paced(2.0, seen_s=3.0)], None),
    ],
)
def test_time_left_is_known_or_it_is_not(
    step: int | None, total: int | None, runners: list[RunnerState], left_s: float | None
) -> None:
    assert time_left_s(step, total, runners) == left_s


def train(state: RunnerState, seconds: int, pace: float, begin: int = 0, after_s: int = 0) -> RunnerState:
    """Reports each half second of both ranks; ``begin`` is the step that the first one tells."""
    for turn in range(2 * seconds + 1):
        step = begin + int(pace * turn / 2)
        ranks = tuple(RankProgress(rank=rank, step=step, total=10_000) for rank in (0, 1))
        at = BEGAN + timedelta(seconds=100 + after_s + turn / 2)
        event = record(Progress, state.last_seq + 1, state.round or 0, ranks=ranks, at=at)
        state = fold(state, event, NODE)
    return state


def left_of(state: RunnerState, step: int) -> float | None:
    return time_left_s(step, 10_000, [state])


def test_the_first_seconds_tell_nothing_and_then_the_plain_mean_does() -> None:
    up = fold_all(history(*UP))
    assert left_of(train(up, 5, pace=10), 50) is None
    assert left_of(train(up, 20, pace=10), 200) == pytest.approx(980, rel=0.01)


def test_a_change_of_pace_counts_after_minutes_and_a_moment_of_it_does_not() -> None:
    state = train(fold_all(history(*UP)), 600, pace=10)
    briefly = train(state, 2, pace=100, begin=6000, after_s=601)
    assert left_of(briefly, 6200) == pytest.approx(3800 / 11.5, rel=0.05)
    lastingly = train(state, 600, pace=2, begin=6000, after_s=601)
    assert left_of(lastingly, 7200) == pytest.approx(1400, rel=0.05)


def test_a_restart_keeps_the_pace_and_its_pause_does_not_count() -> None:
    trained = train(fold_all(history(*UP)), 100, pace=10)
    seq, again = trained.last_seq, trained
    for number, kind in enumerate(RESTART, start=1):
        again = fold(again, record(kind, seq + number, 2 if kind in UP[3:] else 1), NODE)
    assert (again.round, again.phase.value) == (2, "up")
    assert left_of(again, 900) == left_of(trained, 900)
    resumed = train(again, 50, pace=10, begin=900, after_s=900)
    assert left_of(resumed, 1400) == pytest.approx(860, rel=0.02)


def test_steps_of_the_slowest_rank_count() -> None:
    up = fold_all(history(*UP))
    assert isinstance(history(*UP)[-1], WorkersStarted)
    state = train(up, 30, pace=10)
    behind = replace(
        state, workers=(state.workers[0], replace(state.workers[1], step=100)), recent_pace=None, paced_s=0
    )
    ranks = (RankProgress(rank=0, step=900), RankProgress(rank=1, step=130))
    at = BEGAN + timedelta(seconds=145)
    told = fold(behind, record(Progress, behind.last_seq + 1, 1, ranks=ranks, at=at), NODE)
    assert told.recent_pace == 2.0

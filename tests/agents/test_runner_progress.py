"""Reports become records: the first step at once, then the newest of each rank, a checkpoint always."""

from __future__ import annotations

import pytest

from agents.runner.progress import ActivityGate, Coalescer, Group, ResumedFrom, Saved, read_report
from agents.wire.runner_events import RankProgress


def progress(rank: int, step: int) -> RankProgress:
    return RankProgress(rank=rank, step=step)


@pytest.mark.parametrize(
    ("line", "report"),
    [
        (
            '{"kind":"step","step":3,"total":9,"metrics":{"loss":1}}',
            RankProgress(rank=5, step=3, total=9, metrics={"loss": 1.0}),
        ),
        ('{"kind":"step","step":3}', RankProgress(rank=5, step=3)),
        ('{"kind":"step","step":3,"metrics":{"loss":NaN}}', RankProgress(rank=5, step=3)),
        ('{"kind":"checkpoint","step":3,"path":"/c"}', Saved(3, "/c")),
        ('{"kind":"resumed","step":3,"path":"/c"}', ResumedFrom(3, "/c")),
        ('{"kind":"group_begun","at":1.5}', Group(is_up=False)),
        ('{"kind":"group_up"}', Group(is_up=True)),
        ('{"kind":"checkpoint","step":3}', None),
        ('{"kind":"step","step":"three"}', None),
        ('{"kind":"news","step":3}', None),
        ("[]", None),
        ("{torn", None),
    ],
)
def test_a_line_is_a_report_or_nothing(line: str, report: object) -> None:
    told = read_report(line, rank=5)
    assert (told and told.report) == report


@pytest.mark.parametrize(
    ("written", "at"),
    [("1.5", 1.5), ("NaN", None), ("Infinity", None), ("1e300", None), ("-1", None), ('"noon"', None)],
)
def test_a_moment_that_is_none_costs_no_report_and_no_runner(written: str, at: float | None) -> None:
    told = read_report(f'{{"kind":"step","step":3,"at":{written}}}', rank=5)
    assert told is not None
    assert (told.report, told.at) == (RankProgress(rank=5, step=3), at)


def test_the_first_step_does_not_wait_and_later_ones_are_joined() -> None:
    coalescer = Coalescer()
    assert coalescer.take(10.0) == ()
    coalescer.add(progress(0, 1))
    assert coalescer.take(10.0) == (progress(0, 1),)
    coalescer.add(progress(1, 2))
    coalescer.add(progress(0, 2))
    coalescer.add(progress(0, 3))
    assert coalescer.take(10.4) == ()
    assert coalescer.take(10.5) == (progress(0, 3), progress(1, 2))
    assert coalescer.take(20.0) == ()


def test_a_flush_waits_for_nothing() -> None:
    coalescer = Coalescer()
    coalescer.add(progress(0, 1))
    coalescer.take(10.0)
    coalescer.add(progress(0, 2))
    assert coalescer.take(10.1, flush=True) == (progress(0, 2),)


def test_activity_is_told_when_there_is_new_output_but_not_often() -> None:
    gate = ActivityGate()
    assert gate.take(100.0, now=10.0)
    assert not gate.take(100.0, now=13.0)
    assert gate.take(101.0, now=13.0)
    assert not gate.take(102.0, now=14.0)
    assert gate.take(102.0, now=15.0)

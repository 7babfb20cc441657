"""How far ranks are on the way to their first steps, and when they are as fast as before."""

from __future__ import annotations

from agents.runner.milestones import Milestones
from agents.runner.progress import Group, Report, ResumedFrom, Saved, Told
from agents.wire.runner_events import RankProgress

AT = 1_700_000_000.0


def reached(milestones: Milestones, report: Report, at: float | None = AT, rank: int = 0) -> list[str]:
    return [each.what for each in milestones.take(rank, Told(report, at))]


def step(number: int) -> RankProgress:
    return RankProgress(rank=0, step=number)


def test_each_milestone_of_a_rank_is_told_once_with_the_time_of_its_report() -> None:
    milestones = Milestones()
    assert reached(milestones, Group(is_up=False)) == ["group_begun"]
    assert reached(milestones, Group(is_up=True)) == ["group_up"]
    assert reached(milestones, ResumedFrom(7, "/c")) == ["checkpoint_loaded"]
    (first,) = milestones.take(0, Told(step(8), AT + 1.5))
    assert (first.rank, first.what, first.at.timestamp()) == (0, "first_step", AT + 1.5)
    for report in (Group(is_up=False), Group(is_up=True), step(9), ResumedFrom(8, "/c")):
        assert reached(milestones, report) == []
    assert reached(milestones, step(8), rank=1) == ["first_step"]


def test_what_tells_no_time_and_a_saved_checkpoint_are_no_milestones() -> None:
    milestones = Milestones()
    assert reached(milestones, step(1), at=None) == []
    assert reached(milestones, Saved(1, "/c")) == []


def told_steps(milestones: Milestones, seconds: list[float], rank: int = 0) -> list[tuple[str, float]]:
    """Steps 1, 2, 3 … that take so long; what was reached, and when after the first of them."""
    at, found = AT, []
    for number, each in enumerate([0.0, *seconds], start=1):
        at += each
        found += milestones.take(rank, Told(step(number), at))
    return [(each.what, round(each.at.timestamp() - AT, 3)) for each in found]


def test_the_pace_of_before_is_regained_with_the_first_step_of_those_that_are_as_fast() -> None:
    before = Milestones()
    told_steps(before, [0.5, 0.1, 0.1, 0.1])
    after = Milestones(before.pace)
    assert told_steps(after, [0.8, 0.3, 0.1, 0.1, 0.1, 0.1]) == [
        ("first_step", 0.0),
        ("pace_regained", 1.1),
    ]


def test_a_pace_that_is_not_regained_or_was_never_known_is_not_told() -> None:
    assert told_steps(Milestones(0.1), [0.2] * 9) == [("first_step", 0.0)]
    assert told_steps(Milestones(), [0.1] * 9) == [("first_step", 0.0)]


def test_a_round_with_too_few_steps_leaves_the_pace_of_the_one_before_it() -> None:
    milestones = Milestones(0.25)
    told_steps(milestones, [9.0])
    assert milestones.pace == 0.25


def test_the_pace_is_that_of_the_rank_in_the_middle() -> None:
    milestones = Milestones()
    for rank, each in enumerate((0.1, 0.2, 4.0)):
        told_steps(milestones, [each] * 5, rank)
    assert milestones.pace is not None
    assert round(milestones.pace, 3) == 0.2

"""Ranks that stand at the same place are one group, and whoever keeps them waiting comes first."""

from __future__ import annotations

from agents.wire.stacks import Frame, RankStacks, ThreadStack
from webapp.jobs.kept_stacks import groups_of, keep
from webapp.jobs.stack_groups import Group, group

TORCH = "/lib/torch/distributed"
REDUCING = (
    Frame(name="all_reduce", file=f"{TORCH}/distributed_c10d.py", line=2810),
    Frame(name="_exception_logger.<locals>.wrapper", file=f"{TORCH}/c10d_logger.py", line=83),
    Frame(name="train", file="/data/train.py", line=40),
)
BACKWARD = (
    Frame(name="_engine_run_backward", file="/lib/torch/autograd/graph.py", line=829),
    Frame(name="backward", file="/lib/torch/_tensor.py", line=648),
    Frame(name="train", file="/data/train.py", line=38),
)
LOADING = (
    Frame(name="acquire", file="/data/loader.py", line=7),
    Frame(name="train", file="/data/train.py", line=12),
)


def rank(number: int, frames: tuple[Frame, ...]) -> RankStacks:
    loader = ThreadStack(name="loader", frames=LOADING[:1])
    return RankStacks(rank=number, pid=number, method="py-spy", threads=(ThreadStack(frames=frames), loader))


def told(groups: list[Group]) -> list[tuple[tuple[int, ...], str, bool]]:
    return [(one.ranks, one.place, one.stands_out) for one in groups]


def test_the_one_that_waits_for_nobody_comes_first() -> None:
    found = group([rank(0, REDUCING), rank(1, LOADING), rank(2, REDUCING), rank(3, BACKWARD)])
    assert told(found) == [
        ((1,), "acquire (loader.py:7)", True),
        ((0, 2), "all_reduce (train.py:40)", False),
        ((3,), "backward (train.py:38)", False),
    ]
    assert [one.is_waiting for one in found] == [False, True, True]


def test_where_nobody_is_in_a_collective_the_few_stand_out() -> None:
    other = (*LOADING[:1], Frame(name="train", file="/data/train.py", line=13))
    found = group([rank(0, LOADING), rank(1, LOADING), rank(2, other)])
    assert [(one.ranks, one.stands_out) for one in found] == [((2,), True), ((0, 1), False)]


def test_where_all_stand_together_or_are_even_nobody_stands_out() -> None:
    assert [one.stands_out for one in group([rank(0, LOADING), rank(1, LOADING)])] == [False]
    other = (Frame(name="sleep", file="/data/train.py", line=3),)
    assert [one.stands_out for one in group([rank(0, LOADING), rank(1, other)])] == [False, False]
    assert group([RankStacks(rank=0, pid=1, problem="No answer.")]) == []


def test_what_comes_from_several_nodes_is_kept_as_if_it_came_at_once() -> None:
    at_once = [rank(0, REDUCING), rank(1, LOADING), rank(2, REDUCING)]
    kept = keep(keep([], at_once[:2]), at_once[2:])
    assert told(groups_of(kept)) == told(group(at_once))
    assert len(kept) == 2

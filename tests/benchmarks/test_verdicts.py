"""What is made of the marks of workers and the records of runners, and when a target is missed."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.cases import CASES, ONE_BY_TWO, UnknownCase, find_cases, in_groups, most_nodes
from tests.benchmarks.kills import IN_VAIN, Column
from tests.benchmarks.line import Line, misses, p99_of
from tests.benchmarks.marks import Marks, worlds_of
from tests.benchmarks.phases import Kill, is_told, phases_of
from tests.benchmarks.sides import Account
from tests.benchmarks.time_limit import TimeLimit
from tests.benchmarks.torchrun import DEFAULTS

CASE = find_cases("kill-1x2")[0]
GOOD = Line(
    case=CASE.name,
    mode="preload",
    n=10,
    ours_s=0.15,
    p99_s=0.3,
    torchrun_s=3.0,
    ratio=0.05,
    best_torchrun_s=2.0,
    ft_launcher_s=None,
    kills=10,
    hangs=0,
    torchrun_kills=10,
    torchrun_hangs=3,
    failure_restarts_per_kill=1.0,
    phases={},
)
ONE_EACH = [Account({}, 1)] * 10


def met(rank: int, world: int, at: float, size: int = 2) -> dict[str, Any]:
    return {
        "kind": "collective",
        "rank": rank,
        "pid": 100 * world + rank,
        "world": world,
        "at": at,
        "size": size,
    }


def record(kind: str, second: float, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "at": f"1970-01-01T00:00:{second:06.3f}+00:00", **fields}


def test_ranks_of_two_starts_make_no_world() -> None:
    assert worlds_of([met(0, 1, 5.0), met(1, 2, 6.0)]) == []
    assert [world.up_at for world in worlds_of([met(0, 1, 5.0), met(1, 2, 6.0), met(0, 2, 6.5)])] == [6.5]


def test_a_world_that_was_up_before_a_kill_is_not_its_recovery(tmp_path: Path) -> None:
    marks = Marks(tmp_path / "marks.jsonl")
    assert marks.world_since(0.0, 2) is None
    lines = [met(0, 1, 5.0), met(1, 1, 5.1), met(0, 2, 7.0), met(1, 2, 7.3), met(0, 3, 9.0), met(1, 3, 9.0)]
    marks.path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    back = marks.world_since(5.5, 2)
    assert back is not None
    assert (back.up_at, back.pids) == (7.3, {0: 200, 1: 201})


def test_phases_last_until_the_last_node_is_through_and_add_up_to_the_recovery() -> None:
    kill = Kill(pid=7, at=10.0, recovered_at=10.9, pids=frozenset({17, 18}))
    records = [
        record("workers_started", 9.0, workers=[{"pid": 7}, {"pid": 8}]),
        record("worker_exited", 10.05, worker={"pid": 8}),
        record("worker_exited", 10.1, worker={"pid": 7}),
        record("rendezvous_begun", 10.15),
        record("rendezvous_begun", 10.3),
        record("rendezvous_completed", 10.4),
        record("rendezvous_completed", 10.35),
        record("workers_started", 10.5, workers=[{"pid": 17}]),
    ]
    assert not is_told(kill, records)
    records.append(record("workers_started", 10.6, workers=[{"pid": 18}]))
    assert is_told(kill, records)
    phases = phases_of(kill, records)
    assert phases == pytest.approx(
        {"detect": 0.1, "stop": 0.2, "rendezvous": 0.1, "start": 0.2, "process_group": 0.3}
    )
    assert sum(phases.values()) == pytest.approx(0.9)


def test_the_99th_percentile_of_a_hundred_leaves_out_the_longest() -> None:
    assert p99_of([float(number) for number in range(100, 0, -1)]) == 99.0
    assert p99_of([0.2, 0.9, 0.1]) == 0.9
    assert p99_of([]) is None


def test_nothing_is_missed_when_all_is_reached() -> None:
    assert list(misses(CASE, GOOD, ONE_EACH, is_compared=True)) == []


@pytest.mark.parametrize(
    ("line", "accounts", "says"),
    [
        (replace(GOOD, ratio=0.081), ONE_EACH, "the ratio to torchrun is 0.081"),
        (replace(GOOD, torchrun_s=None, ratio=None, torchrun_hangs=0), ONE_EACH, "nothing to compare"),
        (replace(GOOD, hangs=1), ONE_EACH, "1 of 10 kills hung"),
        (replace(GOOD, p99_s=1.01), ONE_EACH, "99th percentile is 1.010 s"),
        (GOOD, [Account({}, 0), Account({}, 2)], "cost [0, 2] failure restarts"),
    ],
)
def test_each_missed_target_is_a_sentence(line: Line, accounts: list[Account], says: str) -> None:
    (sentence,) = misses(CASE, line, accounts, is_compared=True)
    assert sentence.startswith("kill-1x2: ")
    assert says in sentence


LOSS = find_cases("node-loss")[0]
LOST = replace(GOOD, case=LOSS.name, ours_s=4.0, torchrun_s=32.0, ratio=0.125)
NONE_EACH = [Account({}, 0)] * 5


def test_kills_that_torchrun_never_comes_back_from_are_no_miss_of_ours() -> None:
    alone = replace(GOOD, torchrun_s=None, ratio=None, torchrun_kills=3, torchrun_hangs=3)
    assert list(misses(CASE, alone, ONE_EACH, is_compared=True)) == []


def test_a_change_of_nodes_that_torchrun_does_not_bear_is_no_miss_of_ours() -> None:
    alone = replace(LOST, torchrun_s=None, ratio=None, torchrun_kills=1, torchrun_hangs=1)
    assert list(misses(LOSS, LOST, NONE_EACH, is_compared=True)) == []
    assert list(misses(LOSS, alone, NONE_EACH, is_compared=True)) == []


@pytest.mark.parametrize(
    ("line", "accounts", "says"),
    [
        (
            replace(LOST, ours_s=5.5, ratio=0.17),
            NONE_EACH,
            "the median is 5.500 s; it was to be 5.0 s at most",
        ),
        (replace(LOST, ratio=0.31), NONE_EACH, "the ratio to torchrun is 0.310"),
        (replace(LOST, hangs=1), NONE_EACH, "1 of 10 changes hung"),
        (LOST, [Account({}, 1)], "changes cost [1] failure restarts; each was to cost exactly 0"),
    ],
)
def test_what_a_change_of_nodes_misses_is_a_sentence(line: Line, accounts: list[Account], says: str) -> None:
    (sentence,) = misses(LOSS, line, accounts, is_compared=True)
    assert says in sentence


def test_there_are_nodes_for_the_largest_case_and_for_one_that_grows() -> None:
    assert [case.nodes_after for case in find_cases("node-loss,scale-up,scale-down,demo-node-loss")] == [
        2,
        3,
        2,
        3,
    ]
    assert [most_nodes(find_cases(names)) for names in ("kill-1x2", "scale-up", "")] == [1, 3, 4]


def test_a_world_of_another_size_is_not_the_one_that_is_waited_for(tmp_path: Path) -> None:
    marks = Marks(tmp_path / "marks.jsonl")
    marks.path.write_text("".join(json.dumps(line) + "\n" for line in (met(0, 1, 5.0, 1), met(0, 2, 6.0, 2))))
    assert marks.world_since(0.0, 2) is None
    with marks.path.open("a") as file:
        file.write(json.dumps(met(1, 2, 6.5, 2)) + "\n")
    found = marks.world_since(0.0, 2)
    assert found is not None
    assert found.up_at == 6.5


def test_ours_alone_is_held_to_what_needs_no_torchrun() -> None:
    alone = replace(GOOD, torchrun_s=None, ratio=None, torchrun_kills=0)
    assert list(misses(CASE, alone, ONE_EACH, is_compared=False)) == []
    assert list(misses(CASE, replace(alone, hangs=2), ONE_EACH, is_compared=False)) != []


def test_cases_that_share_a_shape_are_measured_side_by_side() -> None:
    groups = [[case.name for case in group] for group in in_groups(find_cases(""))]
    assert ["kill-2x1", "kill-2x1-exec", "kill-2x1-etcd", "kill-2x1-etcd-exec"] in groups
    assert sum(map(len, groups)) == len(CASES)


def test_an_unknown_case_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownCase, match=r"no case 'kill-9'.*kill-1x2, kill-1x2-exec"):
        find_cases("launch,kill-9")


@pytest.mark.parametrize(
    ("hangs", "recovered_s", "left_out"),
    [(1, [2.0], False), (2, [2.0], True), (2, [], False), (IN_VAIN, [], True)],
)
def test_who_has_hung_twice_is_killed_no_more_once_it_has_recovered_and_later_in_any_case(
    tmp_path: Path, hangs: int, recovered_s: list[float], left_out: bool
) -> None:
    column = Column(
        DEFAULTS, ONE_BY_TWO, tmp_path, 10, 10, most_hangs=2, hangs=hangs, recovered_s=recovered_s
    )
    assert (column.is_through(5), column.is_through(10)) == (left_out, True)


def test_who_is_late_has_its_first_turn_and_no_other(tmp_path: Path) -> None:
    late = Column(DEFAULTS, ONE_BY_TWO, tmp_path, 10, 10, until=time.monotonic() - 1)
    assert [late.is_through(number) for number in (0, 1, 9)] == [False, True, True]


def test_what_is_left_of_the_time_is_shared_by_weight_and_the_last_has_all_of_it() -> None:
    groups, now = in_groups(find_cases("")), time.monotonic()
    limit = TimeLimit(now + 1000)
    first, last = limit.until(groups), limit.until(groups[-1:])
    assert now < first < now + 1000 / 5
    assert last == pytest.approx(now + 1000)
    assert TimeLimit(now - 5).until(groups) == pytest.approx(now, abs=60)
    assert TimeLimit().until(groups) == float("inf")


def test_what_begins_once_the_time_is_used_up_is_left_out_and_named() -> None:
    group = in_groups(find_cases("kill-2x1,kill-2x1-exec"))[0]
    assert TimeLimit(time.monotonic() + 1000).left_out(group) == TimeLimit().left_out(group) == ""
    told = TimeLimit(time.monotonic() - 1).left_out(group)
    assert told.startswith("kill-2x1,kill-2x1-exec: left out")
    assert told.endswith("make bench CASE=kill-2x1,kill-2x1-exec")

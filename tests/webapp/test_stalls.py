"""Who is behind, and who is not: a pause is called a stall only where it certainly is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.jobs.stalls import (
    LEAST_S,
    SAVE_S,
    TIMES,
    Look,
    Rule,
    Stalled,
    WorkerView,
    find_stragglers,
    limit_of,
    look_at,
)

PACE_S = 0.5


def worker(rank: int, step: int = 1205, pace_s: float = PACE_S, **more: Any) -> WorkerView:
    """One that reports a step each half second, the last one just now."""
    trail = tuple((step - back, 1000 - back * pace_s) for back in (4, 3, 2, 1, 0))
    usual: dict[str, Any] = {
        "rank": rank,
        "node": f"node-{'ab'[rank // 2]}",
        "step": step,
        "trail": trail,
        "state": "S",
    }
    return WorkerView(**usual | {"silence_s": 0.1} | more)


def workers(*, of_one: int = 3, one: dict[str, Any] | None = None, **rest: Any) -> list[WorkerView]:
    """Four of them; ``one`` is what is else of the rank ``of_one``."""
    return [worker(rank, **(rest | (one or {}) if rank == of_one else rest)) for rank in range(4)]


def stalled(look: Look) -> Stalled:
    assert isinstance(look, Stalled), look
    return look


def test_a_stopped_rank_is_named_with_its_process_state() -> None:
    seen = workers(one={"state": "T", "step": 1204, "silence_s": 14.0}, silence_s=13.5)
    found = stalled(look_at(seen, Rule(), 60))
    assert (found.rank, found.node, found.since_s) == (3, "node-b", 14.0)
    assert found.why == (
        "rank 3 on node-b is behind (step 1,204, the others 1,205); its process is stopped (T)"
    )


def test_a_stopped_process_is_it_even_where_another_seems_behind() -> None:
    seen = workers(of_one=1, one={"step": 1204}, silence_s=14.0)
    seen[2] = replace(seen[2], state="T")
    assert stalled(look_at(seen, Rule(), 60)).rank == 2


def test_a_rank_that_reports_nothing_itself_is_named_when_it_is_stopped() -> None:
    seen = [worker(0, silence_s=14.0), replace(worker(1, state="T"), step=None, trail=(), silence_s=None)]
    found = stalled(look_at(seen, Rule(), 60))
    assert (found.rank, found.why) == (
        1,
        "rank 1 on node-a holds up the others; its process is stopped (T)",
    )


def test_uninterruptible_sleep_counts_after_steps() -> None:
    seen = workers(silence_s=14.0)
    seen[1] = replace(seen[1], state="D")
    assert stalled(look_at(seen, Rule(), 60)).rank == 1
    seen[2] = replace(seen[2], step=1204)
    assert stalled(look_at(seen, Rule(), 60)).rank == 2


def test_the_end_of_a_save_is_where_the_pause_begins() -> None:
    """The steps that follow it are told a moment later, and the others were silent for as long as it took."""
    just_saved = workers(of_one=0, one={"saved_s": 0.4, "silence_s": 0.4}, silence_s=9.0)
    assert look_at(just_saved, Rule(), 60) == "moving"
    long_ago = workers(of_one=0, one={"saved_s": 9.0}, silence_s=9.0)
    assert isinstance(look_at(long_ago, Rule(), 60), Stalled)


def test_the_one_that_waits_elsewhere_is_named_with_its_stack() -> None:
    seen = [replace(one, stands="all_reduce (train.py:40)") for one in workers(silence_s=14.0)]
    seen[1] = replace(seen[1], stands="wait_for_ever (train.py:12)", stands_out=True)
    found = stalled(look_at(seen, Rule(), 60))
    assert found.why == (
        "rank 1 on node-a has not come beyond step 1,205; it stands in wait_for_ever (train.py:12), the "
        "others in all_reduce (train.py:40)"
    )


def test_where_none_stands_out_nobody_is_blamed() -> None:
    found = stalled(look_at(workers(silence_s=14.0), Rule(), 60))
    assert (found.rank, found.why) == (
        None,
        "no rank has come beyond step 1,205, and none of them stands out",
    )


def test_one_that_stands_while_the_others_go_on_is_a_stall_too() -> None:
    found = stalled(look_at(workers(one={"silence_s": 14.0, "step": 12}), Rule(), 60))
    assert (found.rank, found.why) == (3, "rank 3 on node-b is behind (step 12, the others 1,205)")


@pytest.mark.parametrize(
    ("why", "change", "expected"),
    [
        ("its node is not heard", {"is_seen": False}, "unknown"),
        ("it saves a checkpoint", {"saving_step": 1205}, "moving"),
    ],
)
def test_one_worker_of_which_that_is_true_is_enough(why: str, change: dict[str, Any], expected: str) -> None:
    assert look_at(workers(one=change, silence_s=60.0), Rule(), 600) == expected, why
    assert look_at(workers(one=change, silence_s=60.0), Rule(after_s=5), 600) == expected, why


def test_a_save_that_takes_half_an_hour_excuses_nothing_any_more() -> None:
    seen = workers(one={"saving_step": 1205}, silence_s=SAVE_S + 1)
    assert stalled(look_at(seen, Rule(), 9000)).rank is None


@pytest.mark.parametrize(
    "seen",
    [
        [],
        workers(silence_s=4.9),
        [replace(one, step=None, trail=()) for one in workers(silence_s=60.0)],
        [replace(one, trail=one.trail[:3]) for one in workers(silence_s=60.0)],
        [replace(one, total=1205) for one in workers(silence_s=60.0)],
        workers(one={"total": 1205, "silence_s": 60.0}),
        workers(silence_s=19.0, pace_s=2.0),
    ],
    ids=["nobody", "short", "no step yet", "few steps yet", "all done", "one done", "slow steps"],
)
def test_that_is_no_stall(seen: list[WorkerView]) -> None:
    assert look_at(seen, Rule(), 600) == "moving"


def test_the_job_may_say_how_long_is_too_long() -> None:
    fresh = [replace(one, trail=one.trail[:1]) for one in workers(silence_s=8.0)]
    assert look_at(fresh, Rule(after_s=9), 60) == "moving"
    assert stalled(look_at(fresh, Rule(after_s=7), 60)).since_s == 8.0
    assert look_at(workers(silence_s=9000.0), Rule(after_s=0), 60) == "moving"


@given(
    gaps=st.lists(st.floats(0.01, 100), min_size=4, max_size=4),
    silence_s=st.floats(0, 5000),
)
def test_by_its_own_pace_no_pause_within_ten_usual_ones_is_a_stall(
    gaps: list[float], silence_s: float
) -> None:
    times = [sum(gaps[:n]) for n in range(5)]
    trail = tuple(enumerate(times))
    seen = [replace(one, trail=trail, silence_s=silence_s) for one in workers()]
    limit_s = limit_of(seen)
    assert limit_s is not None
    assert limit_s >= max(LEAST_S, 0.99 * TIMES * min(gaps))
    assert isinstance(look_at(seen, Rule(), 1e6), Stalled) == (silence_s >= limit_s)


# -- without steps -------------------------------------------------------------------------


def silent(**more: Any) -> list[WorkerView]:
    return [replace(one, step=None, trail=(), **more) for one in workers()]


LINES = Rule(log_regex="epoch", log_start_s=60, log_every_s=30)


def test_lines_that_do_not_come_again_are_a_stall() -> None:
    found = stalled(look_at(silent(matched_s=31.0), LINES, 600))
    assert found.why == "rank 0 on node-a has written no line that matches 'epoch' for more than 30 s"
    any_line = replace(LINES, log_regex="")
    assert stalled(look_at(silent(matched_s=1.0, wrote_s=31.0), any_line, 600)).why.endswith(
        "has written no line for more than 30 s"
    )


def test_the_stopped_one_is_named_also_by_lines() -> None:
    seen = silent(matched_s=31.0)
    seen[2] = replace(seen[2], state="T")
    found = stalled(look_at(seen, LINES, 600))
    assert (found.rank, found.why) == (
        2,
        "rank 0 on node-a has written no line that matches 'epoch' for more than 30 s; rank 2 on node-b: its "
        "process is stopped (T)",
    )


def test_lines_tell_nothing_before_the_cut_off_or_without_a_rule() -> None:
    assert look_at(silent(matched_s=None), LINES, 59) == "moving"
    assert look_at(silent(matched_s=None), LINES, 89) == "moving"
    assert isinstance(look_at(silent(matched_s=None), LINES, 91), Stalled)
    assert look_at(silent(matched_s=500.0), Rule(log_regex="epoch"), 600) == "moving"
    assert look_at([replace(one, is_seen=False) for one in silent(matched_s=500.0)], LINES, 600) == "unknown"


def test_a_rank_that_never_writes_such_lines_is_not_waited_for() -> None:
    seen = silent(matched_s=2.0)
    assert look_at([*seen[:3], replace(seen[3], matched_s=None)], LINES, 600) == "moving"


# -- stragglers ----------------------------------------------------------------------------


def test_a_rank_that_moves_and_is_slow_is_a_straggler() -> None:
    slow = WorkerView(
        rank=3, node="node-b", step=1000, trail=((992, 992.0), (994, 994.0), (996, 996.0), (1000, 1000.0))
    )
    seen = [*workers()[:3], slow]
    assert look_at(seen, Rule(), 60) == "unknown"
    found = find_stragglers([replace(one, silence_s=0.4) for one in seen])
    assert [(one.rank, one.node) for one in found] == [(3, "node-b")]
    assert found[0].says == (
        "Rank 3 on node-b is 205 steps behind the fastest; a step takes it 1.0 s, the others 500 ms."
    )


def test_a_step_more_or_less_makes_no_straggler() -> None:
    assert find_stragglers(workers(one={"step": 1204})) == []
    assert find_stragglers(workers()[:1]) == []

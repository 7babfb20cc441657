"""A job that fails in the same way each time it starts is tried later and later, and soon not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.runner.exits import Ending, kind_of_failure
from agents.runner.guard import EARLY_S, TRIES, Streak, follow
from agents.wire.runner_events import WorkerError
from tests.agents.runner_harness import Attempt, Runner, write_script

LONG_S = 120.0
SLEEPS = "import time\ntime.sleep(600)\n"
BROKEN = "raise ValueError('bad learning rate -3')\n"
BROKEN_ON_B = f"import os\nif os.environ['RANK'] == '1':\n    {BROKEN}{SLEEPS}"
BROKEN_LATER = "import regroup_report\nregroup_report.step(1)\n" + BROKEN
TORN = """
import json, pathlib, sys
import regroup_report
path = pathlib.Path(__file__).with_name("newest.json")
if path.exists():
    json.loads(path.read_text())
path.write_text('{"step": 4')
regroup_report.checkpoint(4, str(path))
sys.exit(5)
"""


def rounds(runner: Runner) -> int:
    return len(runner.records("rendezvous_completed"))


def test_a_script_that_cannot_start_is_given_up_after_three_tries(tmp_path: Path) -> None:
    script = write_script(tmp_path, BROKEN)
    with Attempt(tmp_path, nproc_per_node=1, max_restarts=9, script=script, preload=()) as attempt:
        (runner,) = attempt.start("node-a")
        last = runner.finish(LONG_S)
    assert (last["outcome"], last["charged"], rounds(runner)) == ("failed", TRIES - 1, TRIES)
    assert last["reason"].startswith(
        "Rank 0 on node-a exited with code 1: ValueError: bad learning rate -3 (train.py:1). That was the "
        "same failure 3 times in a row, each within "
    )
    assert last["reason"].endswith("so it is not tried again, although 7 failure restarts are left.")
    assert "Traceback" in runner.records("worker_exited")[-1]["error"]["traceback"]
    later = "the workers on node-a have failed in the same way 2 times as soon as they began: the next try"
    assert runner.bundle.own_log.read_text().count(later) == 1


def test_the_other_nodes_are_stopped_with_that_reason(tmp_path: Path) -> None:
    script = write_script(tmp_path, BROKEN_ON_B)
    with Attempt(
        tmp_path, nnodes="2", nproc_per_node=1, max_restarts=9, script=script, preload=()
    ) as attempt:
        a, b = attempt.start("node-a", "node-b")
        failed, stopped = b.finish(LONG_S), a.finish(LONG_S)
    assert (failed["outcome"], stopped["outcome"]) == ("failed", "stopped")
    assert "bad learning rate -3 (train.py:3). That was the same failure 3 times" in failed["reason"]
    assert "ValueError: bad learning rate -3 (train.py:3)" in stopped["reason"]
    assert (failed["charged"], stopped["charged"], rounds(a), rounds(b)) == (2, 0, 3, 3)
    assert {one["role"] for one in a.records("worker_exited")} == {"stopped"}


def test_a_torn_checkpoint_does_not_cost_the_whole_budget(tmp_path: Path) -> None:
    script = write_script(tmp_path, TORN)
    with Attempt(tmp_path, nproc_per_node=1, max_restarts=9, script=script, preload=()) as attempt:
        (runner,) = attempt.start("node-a")
        last = runner.finish(LONG_S)
    assert (last["outcome"], last["charged"], rounds(runner)) == ("failed", 3, 4)
    assert "json.decoder.JSONDecodeError" in last["reason"]
    assert f"The newest checkpoint is that of step 4, {tmp_path / 'newest.json'}." in last["reason"]


def test_a_job_that_gets_on_may_spend_all_it_has(tmp_path: Path) -> None:
    script = write_script(tmp_path, BROKEN_LATER)
    with Attempt(tmp_path, nproc_per_node=1, max_restarts=4, script=script, preload=()) as attempt:
        (runner,) = attempt.start("node-a")
        last = runner.finish(LONG_S)
    assert (last["outcome"], last["charged"], rounds(runner)) == ("failed", 4, 5)
    assert last["reason"].endswith("and node-a has no failure restarts left (4 of 4 spent).")


def after(*rounds: tuple[str | None, float, bool]) -> Streak:
    streak = Streak()
    for failure, after_s, has_progressed in rounds:
        streak = follow(streak, failure, after_s, has_progressed)
    return streak


def test_only_the_same_failure_soon_after_the_start_counts() -> None:
    early, late = ("A", 1.0, False), ("A", EARLY_S + 1, False)
    assert after(early, early, early).is_hopeless
    assert not after(early, early, ("B", 1.0, False), early).is_hopeless
    assert not after(early, early, late, early).is_hopeless
    assert not after(early, early, ("A", 1.0, True), early).is_hopeless
    assert not after(early, early, ("", 1.0, False), early).is_hopeless


def test_a_round_that_ended_for_others_says_nothing_unless_it_went_well() -> None:
    early, taken_along = ("A", 1.0, False), (None, 1.0, False)
    assert after(early, taken_along, early, taken_along, early).is_hopeless
    assert not after(early, early, (None, EARLY_S + 1, False), early).is_hopeless


def test_each_try_waits_twice_as_long() -> None:
    early = ("A", 1.0, False)
    assert [after(*[early] * count).pause_s for count in range(5)] == [0, 0, 1, 2, 4]


BUG = WorkerError(type="ValueError", message="no", file="train.py", line=3, read_from="stderr")


@pytest.mark.parametrize(
    ("one", "other", "are_alike"),
    [
        (Ending(code=1, error=BUG), Ending(code=1, error=BUG, last_line="x"), True),
        (Ending(code=3, last_line="no data"), Ending(code=3, last_line="no data"), True),
        (Ending(code=3, last_line="no data"), Ending(code=3, last_line="no licence"), False),
        (Ending(code=3), Ending(code=4), False),
        (Ending(code=-11), Ending(code=-11), True),
    ],
)
def test_failures_are_alike_when_they_say_the_same(one: Ending, other: Ending, are_alike: bool) -> None:
    assert (kind_of_failure(one) == kind_of_failure(other)) is are_alike


@pytest.mark.parametrize("code", [-9, -15, -1, 137, 143])
def test_a_signal_from_outside_is_like_no_other_failure(code: int) -> None:
    assert kind_of_failure(Ending(code=code)) == ""

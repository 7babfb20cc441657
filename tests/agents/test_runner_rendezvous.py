"""The rendezvous of the runners, where torch's own goes wrong: lost ranks, late nodes, clocks, pickles."""

from __future__ import annotations

import json
import os
import pickle
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agents.runner.endpoint import split_endpoint
from agents.runner.rendezvous.c10d import C10dVenue
from agents.runner.rendezvous.meeting import Meeting
from agents.runner.rendezvous.operations import LastCall
from agents.wire.rdzv import RdzvConf
from tests.agents.elastic_scripts import COLLECTIVE
from tests.agents.runner_harness import Attempt, Runner, write_script

SLOW_CLOCK = """
import datetime, time
_shift = {shift}
_time = time.time
time.time = lambda: _time() + _shift
class Shifted(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds=_shift)
datetime.datetime = Shifted
"""


def meet(runner: Runner) -> Meeting:
    """A way in of one's own, as anybody has it who reaches the store."""
    message = runner.bundle.message()
    assert message is not None
    return C10dVenue(*split_endpoint(message.endpoint), RdzvConf()).open(message.attempt, time.sleep)


class Touches:
    """Unpickling it makes a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mknod, (self.path,)


def test_the_state_is_plain_data_and_nothing_in_the_store_is_run(tmp_path: Path) -> None:
    with Attempt(tmp_path, nproc_per_node=1) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        backend = meet(runner).backend
        found = backend.get_state()
        assert found is not None
        assert json.loads(found[0])["participants"][0][0] == "node-a"
        trap = tmp_path / "was-run"
        answer = backend.set_state(pickle.dumps(Touches(str(trap))), found[1])
        while answer is not None and not answer[2]:
            answer = backend.set_state(pickle.dumps(Touches(str(trap))), answer[1])
        assert "rendezvous state cannot be read" in runner.finish()["reason"]
        assert not trap.exists()


def test_the_loss_of_rank_0s_node_leaves_no_old_keys_and_the_others_train_on(tmp_path: Path) -> None:
    script = write_script(tmp_path, COLLECTIVE)
    conf = {"last_call_timeout": "600"}
    with Attempt(tmp_path, nnodes="1:3", nproc_per_node=1, rdzv_conf=conf, script=script) as attempt:
        first, *others = attempt.start("node-a", "node-b", "node-c")
        old = others[0].wait_for("rendezvous_completed", round=1)
        assert old["nodes"][0] == "node-a"
        others[0].wait_for_step(1, beyond=3)
        first.process.kill()
        for runner in others:
            new = runner.wait_for("rendezvous_completed", round=2)
            assert (new["nodes"], new["cause"], new["charged"]) == (["node-b", "node-c"], "membership", None)
            assert new["absent"] == {"node-a": "its keep-alive lapsed"}
            assert new["store"] != old["store"]
            runner.wait_for_step(2, beyond=3)
        others[1].kill(2, rank=1)
        for runner in others:
            assert runner.wait_for("rendezvous_completed", round=3)["charged"] == "node-c"
            runner.wait_for_step(3, beyond=3)


def seconds_to_form(runner: Runner, round_number: int) -> float:
    begun = runner.records("rendezvous_begun")[round_number - 1]["at"]
    formed = runner.wait_for("rendezvous_completed", round=round_number)["at"]
    return _seconds(formed) - _seconds(begun)


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def test_who_does_not_come_in_time_is_not_waited_for_again_and_may_come_later(tmp_path: Path) -> None:
    conf = {"last_call_timeout": "12"}
    names = ("node-a", "node-b")
    with Attempt(tmp_path, nnodes="1:2", nproc_per_node=1, rdzv_conf=conf) as attempt:
        (first,) = attempt.start("node-a", nodes=names)
        late = {"node-b": "it did not join within 12 s (last_call_timeout)"}
        assert first.wait_for("rendezvous_completed", round=1)["absent"] == late
        first.wait_for_step(1, beyond=3)
        first.kill(1, rank=0)
        assert first.wait_for("rendezvous_completed", round=2)["absent"] == late
        assert seconds_to_form(first, 2) < 12 <= seconds_to_form(first, 1)
        first.wait_for_step(2, beyond=3)
        second = attempt.start_on("node-b")
        third = first.wait_for("rendezvous_completed", round=3)
        assert (third["nodes"], third["absent"], third["cause"]) == (list(names), {}, "membership")
        for runner in (first, second):
            runner.wait_for_step(3, beyond=3)


def shift_clock(folder: Path, seconds: int) -> dict[str, str]:
    """What gives a runner's Python a clock that is wrong by that much."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SLOW_CLOCK.format(shift=seconds))
    return {"PYTHONPATH": str(folder)}


@pytest.mark.parametrize("seconds", [60, -60])
def test_a_node_whose_clock_is_a_minute_off_lives_on_and_recovers(tmp_path: Path, seconds: int) -> None:
    wrong = shift_clock(tmp_path / "clock", seconds)
    with Attempt(tmp_path, nnodes="1:2", nproc_per_node=1) as attempt:
        (right,) = attempt.start("node-a", nodes=("node-a", "node-b"))
        other = attempt.start_on("node-b", env=wrong)
        # Several keep-alives long, by which time torch has called it dead.
        for runner in (right, other):
            runner.wait_for_step(1, beyond=150)
        told, true = (_seconds(one.records("runner_started")[0]["at"]) for one in (other, right))
        assert abs(told - true) > 30
        assert (right.records("restart_begun"), other.records("restart_begun")) == ([], [])
        other.kill(1, rank=1)
        for runner in (right, other):
            assert runner.wait_for("rendezvous_completed", round=2)["nodes"] == ["node-a", "node-b"]
            runner.wait_for_step(2, beyond=3)


def test_the_last_call_is_counted_by_ones_own_clock() -> None:
    call = LastCall(30.0)
    assert not call.is_over(None, now=0.0)
    assert not call.is_over("from a clock an hour ahead", now=100.0)
    assert not call.is_over("from a clock an hour ahead", now=130.0)
    assert call.is_over("from a clock an hour ahead", now=130.1)
    assert not call.is_over("another one", now=130.2)
    assert not call.is_over(None, now=1000.0)


def test_static_gives_ranks_in_the_order_of_the_nodes(tmp_path: Path) -> None:
    script = write_script(tmp_path, COLLECTIVE)
    with Attempt(tmp_path, nnodes="2", nproc_per_node=1, rdzv_backend="static", script=script) as attempt:
        first, second = attempt.start("node-z", "node-a")
        assert first.wait_for("rendezvous_completed", round=1)["nodes"] == ["node-z", "node-a"]
        second.wait_for_step(1, beyond=3)
        second.kill(1, rank=1)
        formed = second.wait_for("rendezvous_completed", round=2)
        assert (formed["nodes"], formed["group_rank"], formed["charged"]) == (
            ["node-z", "node-a"],
            1,
            "node-a",
        )
        first.wait_for_step(2, beyond=3)


def test_who_dies_while_a_round_forms_is_not_waited_for_and_its_replacement_gets_in(tmp_path: Path) -> None:
    names = ("node-a", "node-b", "node-c")
    with Attempt(tmp_path, nnodes="3", nproc_per_node=1) as attempt:
        first, second = attempt.start("node-a", "node-b", nodes=names)
        first.wait_for("rendezvous_joined", joined=["node-a", "node-b"])
        second.process.kill()
        second.process.wait(10)
        first.wait_for("rendezvous_joined", joined=["node-a", "node-b"])
        attempt.start_on("node-c")
        attempt.start_on("node-b")
        formed = first.wait_for("rendezvous_completed")
        assert (formed["round"], formed["nodes"]) == (1, list(names))
        for runner in attempt.runners.values():
            runner.wait_for_step(1, beyond=3)


def test_who_changes_the_round_wakes_those_who_would_look_much_later(tmp_path: Path) -> None:
    names = ("node-a", "node-b")
    spec = {"nnodes": "1:2", "nproc_per_node": 1, "monitor_interval": 600.0}
    with Attempt(tmp_path, rdzv_conf={"last_call_timeout": "1"}, **spec) as attempt:
        (first,) = attempt.start("node-a", nodes=names)
        first.wait_for_step(1)
        second = attempt.start_on("node-b")
        assert first.wait_for("rendezvous_completed", round=2)["nodes"] == list(names)
        second.wait_for_step(2)
        second.kill(2, rank=1)
        assert first.wait_for("rendezvous_completed", round=3)["charged"] == "node-b"
        second.wait_for_step(3)
        second.process.terminate()
        left = first.wait_for("rendezvous_completed", round=4)
        assert (left["nodes"], left["absent"]) == (["node-a"], {"node-b": "it left"})
        first.wait_for_step(4)

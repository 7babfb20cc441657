"""A whole node is lost, or only seems to be."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.agents.elastic_scripts import COLLECTIVE, MUTE_FAILURE, SILENT
from tests.agents.runner_harness import Attempt, write_script
from tests.waiting import wait_until

NEVER = {"last_call_timeout": "600"}


@pytest.mark.parametrize("script", [COLLECTIVE, SILENT])
@pytest.mark.parametrize("lost", [0, 2])
def test_the_survivors_of_a_lost_node_train_on_and_nobody_is_charged(
    tmp_path: Path, script: str, lost: int
) -> None:
    names = ["node-a", "node-b", "node-c"]
    spec = {"nnodes": "1:3", "nproc_per_node": 2, "max_restarts": 0, "rdzv_conf": NEVER}
    with Attempt(tmp_path, script=write_script(tmp_path, script), **spec) as attempt:
        runners = attempt.start(*names)
        for runner in runners:
            runner.wait_for_step(1, beyond=3)
        runners[lost].lose()
        left = [name for name in names if name != names[lost]]
        for runner in runners:
            if runner is runners[lost]:
                continue
            formed = runner.wait_for("rendezvous_completed", round=2)
            assert (formed["nodes"], formed["cause"], formed["charged"]) == (left, "membership", None)
            assert formed["world_size"] == 4
            assert formed["absent"] == {names[lost]: "its keep-alive lapsed"}
            runner.wait_for_step(2, beyond=3)


def test_a_failed_worker_elsewhere_is_paid_for_by_its_node_alone(tmp_path: Path) -> None:
    script = write_script(tmp_path, COLLECTIVE)
    with Attempt(tmp_path, nnodes="3", nproc_per_node=1, max_restarts=1, script=script) as attempt:
        runners = attempt.start("node-a", "node-b", "node-c")
        for runner in runners:
            runner.wait_for_step(1, beyond=3)
        runners[1].kill(1, rank=1)
        for runner in runners:
            assert runner.wait_for("rendezvous_completed", round=2)["charged"] == "node-b"


@pytest.mark.parametrize("script", [COLLECTIVE, SILENT])
@pytest.mark.parametrize("frozen", [0, 1])
def test_a_node_that_stands_still_for_five_seconds_re_forms_nothing(
    tmp_path: Path, script: str, frozen: int
) -> None:
    spec = {"nnodes": "1:2", "nproc_per_node": 1, "rdzv_conf": NEVER}
    with Attempt(tmp_path, script=write_script(tmp_path, script), **spec) as attempt:
        runners = attempt.start("node-a", "node-b")
        for runner in runners:
            runner.wait_for_step(1, beyond=3)
        runners[frozen].signal_all(signal.SIGSTOP)
        since = time.monotonic()
        wait_until(lambda: time.monotonic() - since > 5, 10, "five seconds to pass")
        runners[frozen].signal_all(signal.SIGCONT)
        for runner in runners:
            step = max(rank["step"] for rank in runner.records("progress")[-1]["ranks"])
            # Some seconds more, in which a late verdict would show.
            runner.wait_for_step(1, beyond=step + 60)
            assert runner.records("restart_begun", "runner_finished") == []


def test_a_lost_store_is_infrastructures_fault(tmp_path: Path) -> None:
    script = write_script(tmp_path, SILENT)
    with Attempt(tmp_path, nnodes="2", nproc_per_node=1, script=script) as attempt:
        runners = attempt.start("node-a", "node-b")
        for runner in runners:
            runner.wait_for_step(1)
        assert attempt.keeper is not None
        attempt.keeper.process.kill()
        for runner in runners:
            last = runner.finish()
            assert (last["outcome"], last["is_infrastructure"]) == ("failed", True)
            assert "The store host node-a was lost" in last["reason"]


def test_a_round_that_does_not_form_in_time_is_infrastructures_fault_and_names_who_is_missing(
    tmp_path: Path,
) -> None:
    script = write_script(tmp_path, MUTE_FAILURE)
    conf = {"join_timeout": "5"}
    with Attempt(tmp_path, nnodes="2:3", nproc_per_node=1, rdzv_conf=conf, script=script) as attempt:
        staying, leaving = attempt.start("node-a", "node-b")
        staying.wait_for_step(1)
        leaving.leave()
        last = staying.finish()
        assert (last["outcome"], last["is_infrastructure"], last["has_left"]) == ("failed", True, False)
        assert last["reason"] == (
            "No round formed within 5 s (join_timeout): node-b (it left) is missing, and at least 2 nodes "
            "are needed."
        )

"""Rounds: they form as soon as everybody is there, keep their logs apart, and re-form for late failures."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.agents.runner_harness import MINIMAL, Attempt, write_script
from tests.waiting import wait_until

COUNTER = """
import os, time
import regroup_report
print("round", os.environ["REGROUP_ROUND"], "restart", os.environ["TORCHELASTIC_RESTART_COUNT"], flush=True)
step = 0
while True:
    step += 1
    regroup_report.step(step)
    time.sleep(0.05)
"""

FIRST_DONE_THEN_FAILURE = """
import os, sys, time
first = os.environ["REGROUP_ROUND"] == "1"
if first and os.environ["RANK"] == "1":
    flag = os.path.join(os.path.dirname(__file__), "others-are-done")
    while not os.path.exists(flag):
        time.sleep(0.02)
    sys.exit(3)
"""


def test_a_range_forms_as_soon_as_all_assigned_nodes_are_in(tmp_path: Path) -> None:
    with Attempt(tmp_path, nnodes="1:3", rdzv_conf={"last_call_timeout": "600"}) as attempt:
        a, b = attempt.start("node-b", "node-a")
        formed = a.wait_for("rendezvous_completed")
        assert formed["nodes"] == ["node-a", "node-b"]
        assert (formed["world_size"], formed["group_rank"], formed["cause"]) == (4, 1, "start")
        assert b.wait_for("rendezvous_completed")["group_rank"] == 0
        joined = a.records("rendezvous_joined")[-1]
        assert (joined["joined"], joined["expected"]) == (["node-a", "node-b"], ["node-b", "node-a"])


def test_logs_of_an_earlier_round_stay_as_they_were(tmp_path: Path) -> None:
    with Attempt(tmp_path, script=write_script(tmp_path, COUNTER)) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        runner.kill(1, rank=0)
        later = runner.bundle.log(2, 0, "stdout")
        wait_until(lambda: later.exists() and later.read_text(), 90, "the restarted rank to write")
        assert runner.bundle.log(1, 0, "stdout").read_text() == "round 1 restart 0\n"
        assert later.read_text() == "round 2 restart 1\n"


def test_stores_differ_from_round_to_round(tmp_path: Path) -> None:
    with Attempt(tmp_path, script=write_script(tmp_path, COUNTER)) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        runner.kill(1, rank=0)
        runner.wait_for_step(2)
        first, second = runner.records("rendezvous_completed")
        assert first["store"] != second["store"]


def test_a_failure_after_others_have_finished_brings_everybody_back(tmp_path: Path) -> None:
    script = write_script(tmp_path, FIRST_DONE_THEN_FAILURE)
    with Attempt(tmp_path, nnodes="2", nproc_per_node=1, max_restarts=1, script=script) as attempt:
        a, b = attempt.start("node-a", "node-b")
        a.wait_for("workers_finished", round=1)
        (tmp_path / "others-are-done").touch()
        assert (a.finish()["outcome"], b.finish()["outcome"]) == ("succeeded", "succeeded")
        for runner in (a, b):
            second = runner.records("rendezvous_completed")[1]
            assert (second["round"], second["cause"], second["charged"]) == (2, "failure", "node-b")


def test_a_node_that_leaves_costs_the_others_no_failure_restart(tmp_path: Path) -> None:
    spec = {"script": MINIMAL, "args": ("--steps", "100000", "--pace", "0.01")}
    conf = {"last_call_timeout": "600"}
    with Attempt(tmp_path, nnodes="1:2", nproc_per_node=1, rdzv_conf=conf, **spec) as attempt:
        a, b = attempt.start("node-a", "node-b")
        a.wait_for_step(1)
        b.process.terminate()
        assert b.finish()["outcome"] == "stopped"
        second = a.wait_for("rendezvous_completed", round=2)
        assert (second["cause"], second["charged"], second["world_size"]) == ("membership", None, 1)


def test_a_node_that_falls_silent_is_left_behind_and_comes_back(tmp_path: Path) -> None:
    script = write_script(tmp_path, COUNTER)
    conf = {"last_call_timeout": "600"}
    with Attempt(tmp_path, nnodes="1:2", nproc_per_node=1, rdzv_conf=conf, script=script) as attempt:
        a, b = attempt.start("node-a", "node-b")
        a.wait_for_step(1)
        b.process.send_signal(signal.SIGSTOP)
        second = a.wait_for("rendezvous_completed", round=2)
        assert (second["nodes"], second["cause"]) == (["node-a"], "membership")
        b.process.send_signal(signal.SIGCONT)
        third = b.wait_for("rendezvous_completed", round=3)
        assert (third["nodes"], third["cause"]) == (["node-a", "node-b"], "membership")

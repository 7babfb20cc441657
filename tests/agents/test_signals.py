"""Signals that are neither a stop nor a kill: noted, handed on, and told when a worker died of one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.agents.runner_harness import Attempt, write_script
from tests.waiting import wait_until

STEPS = """
import time
import regroup_report
for step in range(1, 100_000):
    regroup_report.step(step)
    time.sleep(0.05)
"""
SAVES = "import signal\nsignal.signal(signal.SIGUSR2, lambda *_: print('saved', flush=True))\n" + STEPS


def test_a_hang_up_is_noted_and_training_goes_on(tmp_path: Path) -> None:
    with Attempt(tmp_path, nproc_per_node=1, preload=(), script=write_script(tmp_path, STEPS)) as attempt:
        (runner,) = attempt.start("node-a")
        step = runner.wait_for_step(1)["ranks"][0]["step"]
        os.kill(runner.process.pid, signal.SIGHUP)
        log = runner.bundle.own_log
        wait_until(lambda: "SIGHUP came" in log.read_text(), what="the note")
        assert runner.wait_for_step(1, beyond=step + 20)
        assert runner.records("worker_exited", "restart_begun") == []


def test_a_notice_of_preemption_is_noted_and_reaches_every_worker(tmp_path: Path) -> None:
    with Attempt(tmp_path, preload=(), script=write_script(tmp_path, SAVES)) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        os.kill(runner.process.pid, signal.SIGUSR2)
        for rank in (0, 1):
            log = runner.bundle.log(1, rank, "stdout")
            wait_until(lambda log=log: "saved" in log.read_text(), what="the worker")  # type: ignore[misc]
        assert "SIGUSR2 came and goes to the workers" in runner.bundle.own_log.read_text()
        assert runner.records("worker_exited") == []


@pytest.mark.parametrize("start", ["preload", "exec"])
def test_a_worker_that_has_no_handler_for_the_notice_is_told_so(tmp_path: Path, start: str) -> None:
    spec = {"script": write_script(tmp_path, STEPS), "start": start, "max_restarts": 0}
    with Attempt(tmp_path, nproc_per_node=1, preload=(), **spec) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        os.kill(runner.process.pid, signal.SIGUSR1)
        last = runner.finish()
    (ended,) = runner.records("worker_exited")
    assert (ended["role"], ended["signal"]) == ("cause", "SIGUSR1")
    assert ended["said"].startswith("killed by SIGUSR1: it did not handle the preemption notice (")
    assert last["reason"].startswith("Rank 0 on node-a was killed by SIGUSR1: it did not handle")


@pytest.mark.parametrize("start", ["preload", "exec"])
def test_a_hang_up_of_a_worker_is_told_with_its_reason(tmp_path: Path, start: str) -> None:
    spec = {"script": write_script(tmp_path, STEPS), "start": start}
    with Attempt(tmp_path, nproc_per_node=1, preload=(), **spec) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        runner.kill(1, rank=0, signum=signal.SIGHUP)
        ended = runner.wait_for("worker_exited")
        assert ended["said"].startswith("killed by SIGHUP: its terminal or session was closed (")
        assert runner.wait_for("rendezvous_completed", round=2)["charged"] == "node-a"


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_each_signal_that_asks_to_stop_is_polite(tmp_path: Path, signum: signal.Signals) -> None:
    with Attempt(tmp_path, nproc_per_node=1, preload=(), script=write_script(tmp_path, STEPS)) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        os.kill(runner.process.pid, signum)
        assert runner.finish()["outcome"] == "stopped"
        assert [one["said"] for one in runner.records("worker_exited")] == ["stopped by the runner (SIGTERM)"]
        assert runner.marked() == []

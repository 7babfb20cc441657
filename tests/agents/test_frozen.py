"""A worker that stands still delays neither a restart nor a stop."""

from __future__ import annotations

import os
import signal
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.agents.runner_harness import MINIMAL, Attempt, Runner, write_script

LONG_S = 300.0
"""A grace that no test waits for."""
SILENT = """
import time
import regroup_report
for step in range(1, 100_000):
    regroup_report.step(step)
    time.sleep(0.05)
"""
HANDS_ON = (
    """
import os, signal, sys, time
def save(*_):
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
"""
    + SILENT
)


def ended_within_s(runner: Runner) -> float:
    """From the first end of a worker to that of the last."""
    at = [datetime.fromisoformat(one["at"]) for one in runner.records("worker_exited")]
    return (max(at) - min(at)).total_seconds()


def said(runner: Runner, rank: int) -> str:
    (ended,) = [one for one in runner.records("worker_exited") if one["worker"]["rank"] == rank]
    return str(ended["said"])


@pytest.mark.parametrize("is_silent", [True, False], ids=["silent", "collectives"])
def test_frozen_workers_beside_a_killed_one_and_on_another_node(tmp_path: Path, is_silent: bool) -> None:
    spec: dict[str, Any] = {"script": MINIMAL, "args": ("--steps", "9999")}
    if is_silent:
        spec = {"script": write_script(tmp_path, SILENT), "preload": ()}
    with Attempt(tmp_path, nnodes="2", shutdown_timeout=LONG_S, **spec) as attempt:
        a, b = attempt.start("node-a", "node-b")
        for runner in (a, b):
            runner.wait_for_step(1)
        a.kill(1, rank=0, signum=signal.SIGSTOP)
        b.kill(1, rank=2, signum=signal.SIGSTOP)
        a.kill(1, rank=1)
        for runner in (a, b):
            formed = runner.wait_for("rendezvous_completed", 90, round=2)
            assert (formed["world_size"], formed["charged"]) == (4, "node-a")
            runner.wait_for_step(2)
        assert [said(a, rank=0), said(b, rank=2)] == ["stopped by the runner (SIGTERM)"] * 2
        # What imports torch takes a while to end on a machine that has much to do.
        assert not is_silent or ended_within_s(a) < 1


def test_a_frozen_worker_can_still_save_when_it_is_stopped(tmp_path: Path) -> None:
    script = write_script(tmp_path, HANDS_ON)
    with Attempt(tmp_path, shutdown_timeout=LONG_S, script=script, preload=()) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        runner.kill(1, rank=1, signum=signal.SIGSTOP)
        runner.process.terminate()
        assert runner.finish()["outcome"] == "stopped"
        assert [runner.bundle.log(1, rank, "stdout").read_text() for rank in (0, 1)] == ["saved\n"] * 2


def test_what_a_frozen_worker_has_started_stands_still_no_longer(tmp_path: Path) -> None:
    script = write_script(tmp_path, "import subprocess\nsubprocess.Popen(['sleep', '600'])\n" + SILENT)
    spec = {"script": script, "shutdown_timeout": LONG_S, "start": "exec"}
    with Attempt(tmp_path, nproc_per_node=1, **spec) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        (child,) = set(runner.marked()) - {runner.workers(1)[0]}
        os.kill(child.pid, signal.SIGSTOP)
        runner.process.terminate()
        assert runner.finish()["outcome"] == "stopped"
        assert runner.marked() == []

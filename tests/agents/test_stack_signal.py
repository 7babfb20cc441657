"""A worker writes the stacks of its threads when the signal for it comes, also while it is deadlocked."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from agents import report, stack_signal
from agents.procs import ref_of
from agents.runner.preload.halt import sitecustomize
from tests.agents.preload_harness import WAYS, Way, spec_of
from tests.waiting import wait_until

DEADLOCKED = """
import regroup_report, threading
lock = threading.Lock()
def wait_for_ever():
    print("waits", flush=True)
    with lock, lock:
        pass
wait_for_ever()
"""
PLAIN = "import time\nprint('waits', flush=True)\ntime.sleep(60)\n"


def started(way: Way, stacks: Path) -> int:
    worker, logs = way.start({stack_signal.VARIABLE: str(stacks)})
    wait_until(lambda: "waits" in (logs / "out").read_text())
    return worker.pid


@pytest.mark.parametrize("name", WAYS)
def test_a_deadlocked_worker_writes_where_it_waits(name: str, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    shutil.copyfile(report.__file__, tmp_path / "lib" / "regroup_report.py")
    way, stacks = Way(name, tmp_path, spec_of(tmp_path, DEADLOCKED)), tmp_path / "stacks.txt"
    try:
        ref = ref_of(started(way, stacks))
        assert ref is not None
        for _ in range(2):
            behind = stack_signal.size_of(stacks)
            assert stack_signal.ask(ref)
            said = stack_signal.answer(stacks, behind, 20.0)
            assert said.count("Current thread") == 1
            assert "in wait_for_ever" in said
        os.kill(ref.pid, signal.SIGSTOP)
        wait_until(lambda: not stack_signal.ask(ref))
    finally:
        way.end()


def test_one_that_does_not_listen_is_left_alone(tmp_path: Path) -> None:
    way = Way("exec", tmp_path, spec_of(tmp_path, PLAIN))
    try:
        ref = ref_of(started(way, tmp_path / "stacks.txt"))
        assert ref is not None
        assert not stack_signal.ask(ref)
        assert ref_of(ref.pid) == ref
    finally:
        way.end()


def test_all_who_name_the_signal_name_the_same() -> None:
    assert sitecustomize.STACKS_SIGNAL == report._STACKS_SIGNAL == stack_signal.NUMBER
    assert sitecustomize.STACKS == report._STACKS == stack_signal.VARIABLE

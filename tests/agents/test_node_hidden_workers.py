"""Scripts that set their process title hide what they were started with; they are found all the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents import procs
from agents.procs import ProcessRef
from agents.wire.commands import KillWorker
from tests.agents.node_harness import QUICK, Agent, Hub, Valkey, new_id, start_command
from tests.waiting import wait_until

SCRIPT = """
import ctypes, os, pathlib, sys, time

# As libraries for process titles do: the title grows over the environment behind it.
fields = pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()
begin, end = int(fields[47]), int(fields[48])
ctypes.memset(begin, 0, end - begin)
if os.fork() == 0:
    pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
time.sleep(600)
"""


@pytest.fixture
def node(valkey: Valkey, start_agent: Callable[..., Agent]) -> Agent:
    return start_agent(valkey, entry=QUICK)


@pytest.fixture
def node_hub(valkey: Valkey, node: Agent) -> Hub:
    return Hub(valkey.redis, node.name)


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Path]:
    """Where the worker's child writes its pid; ended afterwards, whatever the test has found."""
    path = tmp_path / "child.pid"
    yield path
    if path.exists() and (left := procs.ref_of(int(path.read_text()))):
        procs.send_signal(left, signal.SIGKILL)


def start(node: Agent, hub: Hub, child: Path, **spec: Any) -> tuple[str, ProcessRef, ProcessRef]:
    """Attempt, worker and its forked child, both without their mark."""
    script = child.with_name("hidden.py")
    script.write_text(SCRIPT)
    command = start_command(node.name, str(child), script=str(script), **spec)
    assert hub.carry_out(command)["outcome"] == "done"
    attempt = command.message.attempt
    worker = hub.worker(attempt)
    wait_until(lambda: child.exists() and child.read_text(), 30, "the child to run")
    forked = procs.ref_of(int(child.read_text()))
    assert forked is not None
    mark = node.bundle(attempt).mark
    wait_until(lambda: not procs.carries_mark(worker.pid, mark), what="the mark to be hidden")
    return attempt, worker, forked


def test_a_hidden_worker_is_killed_by_its_button(node: Agent, node_hub: Hub, child: Path) -> None:
    attempt, worker, _ = start(node, node_hub, child, max_restarts=1)
    kill = KillWorker(
        id=new_id(), attempt=attempt, round=1, rank=0, pid=worker.pid, start_time=worker.start_time
    )
    ended = node_hub.carry_out(kill)
    assert ended["outcome"] == "done", ended
    node_hub.wait_for("workers_started", attempt=attempt, round=2)


def test_nothing_hidden_is_left_of_a_killed_runner(node: Agent, node_hub: Hub, child: Path) -> None:
    attempt, worker, forked = start(node, node_hub, child)
    runner = node.bundle(attempt).process()
    assert runner is not None
    os.kill(runner.pid, signal.SIGKILL)
    settled = node_hub.wait_for("runner_settled", attempt=attempt)
    assert forked.pid in settled["ended_pids"]
    assert not procs.is_alive(worker)
    assert not procs.is_alive(forked)

"""Local workers are ended with what they left behind, their end wakes, and a torn error file harms nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agents.procs import is_alive, ref_of
from agents.runner import workers as workers_module
from agents.runner.sentences import facts_of, stays
from agents.runner.workers import Ended, Workers, name_processes
from agents.wire.plain import now
from agents.wire.runner_events import WorkerRef
from tests.waiting import wait_until

PARENT = (
    "import subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "print(child.pid, flush=True)\n"
)


def start(folder: Path, code: str) -> Workers:
    with (folder / "stdout.log").open("wb") as out, (folder / "stderr.log").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=out, stderr=err, start_new_session=True
        )
    return Workers({0: process}, name_processes({0: process}, {0: 3}), {0: folder})


def test_a_worker_that_fails_takes_its_children_along(tmp_path: Path) -> None:
    workers = start(tmp_path, PARENT + "sys.exit(4)\n")
    (ended,) = wait_until(workers.look, what="the end of the worker")
    child = ref_of(int((tmp_path / "stdout.log").read_text()))
    wait_until(lambda: child is None or not is_alive(child), what="the end of its child")
    assert (ended.role, ended.worker.rank, workers.has_failed()) == ("cause", 3, True)


def test_stopping_twice_ends_it_once(tmp_path: Path) -> None:
    workers = start(tmp_path, "import time; time.sleep(600)")
    (ended,) = workers.stop(grace_s=10)
    assert (ended.role, workers.stop(grace_s=10)) == ("stopped", [])


def test_a_torn_error_file_is_set_aside_and_stderr_is_read(tmp_path: Path) -> None:
    (tmp_path / "error.json").write_text('{"message": {"mess')
    workers = start(tmp_path, "raise ValueError('bad learning rate -3')")
    (ended,) = wait_until(workers.look, what="the end of the worker")
    assert ended.ending is not None
    assert ended.ending.error is not None
    assert (ended.ending.error.type, ended.ending.error.read_from) == ("ValueError", "stderr")
    assert not (tmp_path / "error.json").exists()


def test_the_end_of_a_worker_wakes_whoever_waits(tmp_path: Path) -> None:
    workers = start(tmp_path, "import time; time.sleep(600)")
    began = time.monotonic()
    os.kill(workers.refs[0].pid, signal.SIGKILL)
    workers.wait(600)
    (ended,) = wait_until(workers.look, what="the end of the worker")
    assert (ended.role, time.monotonic() - began < 300) == ("cause", True)


def test_where_nothing_tells_of_an_end_it_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    workers = start(tmp_path, "import time; time.sleep(600)")
    began = time.monotonic()
    workers.wait(600)
    assert (workers.look(), time.monotonic() - began < 300) == ([], True)
    assert [ended.role for ended in workers.stop(grace_s=10)] == ["stopped"]


def test_another_alarm_wakes_too(tmp_path: Path) -> None:
    workers = start(tmp_path, "import time; time.sleep(600)")
    read, write = os.pipe()
    os.close(write)
    began = time.monotonic()
    workers.wait(600, read)
    os.close(read)
    assert (workers.look(), time.monotonic() - began < 300) == ([], True)
    workers.stop(grace_s=10)


def test_a_process_that_does_not_end_is_named_with_its_state_and_nobody_waits_for_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_module, "KILL_S", 0.1)
    # In the group of this test, no signal to a group of its own reaches it.
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    workers = Workers({0: process}, name_processes({0: process}, {0: 3}), {0: tmp_path})
    (ended,) = workers.stop(grace_s=0.1)
    said = facts_of(ended)["said"]
    assert (ended.role, workers.unkillable, process.poll()) == ("unknown", [ended], -signal.SIGKILL)
    assert said.startswith(f"did not end, even after SIGKILL: pid {process.pid} is in state ")
    os.kill(process.pid, signal.SIGKILL)
    os.waitpid(process.pid, 0)


def test_uninterruptible_sleep_is_called_by_its_name() -> None:
    worker = WorkerRef(rank=3, local_rank=1, pid=4711, start_time=1)
    ended = Ended(worker, None, now(), state="D")
    assert stays([ended], "node-b") == (
        "Rank 3 on node-b did not end, even after SIGKILL: pid 4711 is in state D, an uninterruptible sleep. "
        "No other worker is started beside it: see to the device or file system it waits for."
    )

"""Where workers stand, told within two seconds whatever state they are in."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents import report, stack_signal
from agents.bundle import Bundle
from agents.node import requests, stacks
from agents.node.faulthandler_text import read_faulthandler
from agents.node.stacks import take_stacks
from agents.procs import ref_of
from agents.wire import streams
from agents.wire.commands import LogSlice, TakeStacks
from agents.wire.plain import to_json
from agents.wire.stacks import RankStacks, StacksAnswer
from tests.agents.node_harness import Valkey, new_id
from tests.agents.preload_harness import Way, spec_of
from tests.waiting import wait_until

SCRIPT = """
import os, regroup_report, threading, time
def wait_for_ever():
    print("waits", flush=True)
    lock = threading.Lock()
    with lock, lock:
        pass
def sleep_a_lot():
    print("waits", flush=True)
    time.sleep(600)
threading.Thread(target=time.sleep, args=(600,), name="loader", daemon=True).start()
wait_for_ever() if os.environ["RANK"] == "0" else sleep_a_lot()
"""
ATTEMPT, ROUND = "a-1", 1


class Round:
    """Two workers of a bundle as a runner leaves them: rank 0 is deadlocked, rank 1 sleeps."""

    def __init__(self, folder: Path) -> None:
        (folder / "lib").mkdir()
        shutil.copyfile(report.__file__, folder / "lib" / "regroup_report.py")
        self.data = folder / "node"
        self._way = Way("exec", folder, spec_of(folder, SCRIPT))
        self._bundle = Bundle(self.data / "bundles" / ATTEMPT)
        self._bundle.folder.mkdir(parents=True)
        (self._bundle.folder / "start.json").write_text("{}")
        self.pids = [self._start(rank) for rank in range(2)]
        me = ref_of(os.getpid())
        assert me is not None
        self._bundle.write_process(me)
        workers = [
            {"rank": rank, "local_rank": rank, "pid": pid, "start_time": ref.start_time}
            for rank, pid in enumerate(self.pids)
            if (ref := ref_of(pid)) is not None
        ]
        record = {"seq": 1, "kind": "workers_started", "round": ROUND, "workers": workers}
        self._bundle.journal.write_text(json.dumps(record, separators=(",", ":")) + "\n")

    def _start(self, rank: int) -> int:
        file = self._bundle.rank_folder(ROUND, rank) / stack_signal.FILE
        file.parent.mkdir(parents=True)
        worker, logs = self._way.start({"RANK": str(rank), stack_signal.VARIABLE: str(file)})
        wait_until(lambda: "waits" in (logs / "out").read_text())
        return worker.pid

    def take(self, *ranks: int) -> tuple[RankStacks, ...]:
        request = TakeStacks(id="q", attempt=ATTEMPT, round=ROUND, ranks=ranks)
        answer = take_stacks(request, self.data, "node-a")
        assert answer.problem is None
        return answer.ranks

    def end(self) -> None:
        self._way.end()


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Round]:
    made = Round(tmp_path)
    yield made
    made.end()


def names(found: RankStacks) -> list[str]:
    """The functions of the main thread, the innermost first."""
    return [frame.name for frame in found.threads[0].frames]


def program(folder: Path, text: str) -> str:
    path = folder / "py-spy"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_deadlocked_and_a_stopped_worker_are_both_told_of(two: Round) -> None:
    os.kill(two.pids[1], signal.SIGSTOP)
    wait_until(lambda: two.take(1)[0].state == "T", what="rank 1 to stand still")
    deadlocked, stopped = two.take()
    assert (deadlocked.rank, deadlocked.method, names(deadlocked)[0]) == (0, "py-spy", "wait_for_ever")
    assert deadlocked.threads[0].frames[-1].file.endswith("job/train.py")
    assert len(deadlocked.threads) == 2
    assert (stopped.rank, stopped.state, names(stopped)[0]) == (1, "T", "sleep_a_lot")


def test_where_tracing_is_forbidden_the_worker_writes_itself(
    two: Round, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied = program(tmp_path, "echo 'Error: Permission Denied: Try running again as root' >&2; exit 1")
    monkeypatch.setattr(stacks, "find_py_spy", lambda: denied)
    deadlocked = two.take(0)[0]
    assert (deadlocked.method, names(deadlocked)[0]) == ("faulthandler", "wait_for_ever")
    # One that stands still cannot, and what to set is said instead.
    os.kill(two.pids[1], signal.SIGSTOP)
    wait_until(lambda: two.take(1)[0].state == "T", what="rank 1 to stand still")
    stopped = two.take(1)[0]
    assert (stopped.method, stopped.threads) == ("", ())
    assert stopped.problem is not None
    assert "SYS_PTRACE" in stopped.problem


def test_a_dump_that_hangs_delays_no_other(
    two: Round, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = stacks.find_py_spy()
    hangs = program(
        tmp_path, f'for last; do :; done\n[ "$last" = {two.pids[0]} ] && exec sleep 60\nexec {spy} "$@"'
    )
    monkeypatch.setattr(stacks, "find_py_spy", lambda: hangs)
    begun = time.monotonic()
    deadlocked, sleeping = two.take()
    assert time.monotonic() - begun < 2 * stacks.LIMIT_S
    assert (sleeping.method, names(sleeping)[0]) == ("py-spy", "sleep_a_lot")
    assert deadlocked.method in ("faulthandler", "")
    assert deadlocked.method or deadlocked.problem


def test_nobody_is_told_of_where_nobody_is(two: Round) -> None:
    def problem(**changes: object) -> str | None:
        values: dict[str, object] = {"id": "q", "attempt": ATTEMPT, "round": ROUND}
        return take_stacks(TakeStacks(**values | changes), two.data, "node-a").problem  # type: ignore[arg-type]

    assert problem(attempt="a-2") == "node-a knows no attempt 'a-2'."
    assert problem(round=2) == "No such worker of round 2 runs on node-a."
    os.kill(two.pids[1], signal.SIGKILL)
    gone = wait_until(lambda: (found := two.take(1)[0]).problem == "This process has ended." and found)
    assert gone.threads == ()


def test_what_faulthandler_writes_is_read() -> None:
    text = (
        'Fatal: nothing\nThread 0x00007f01 (most recent call first):\n  File "/a b/c.py", line 3 in load\n\n'
        'Current thread 0x00007f02 (most recent call first):\n  File "/t.py", line 9 in f\n  File "/t.py", '
        "line 12 in <module>\n"
    )
    main, loader = read_faulthandler(text)
    assert [(frame.name, frame.line) for frame in main.frames] == [("f", 9), ("<module>", 12)]
    assert loader.frames[0].file == "/a b/c.py"


def test_a_request_that_hangs_holds_up_no_other(
    valkey: Valkey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def hang(request: TakeStacks, data: Path, node: str) -> StacksAnswer:
        over.wait(60)
        return StacksAnswer(problem="It hung.")

    monkeypatch.setattr(requests, "take_stacks", hang)
    asked, node = requests.Requests(valkey.redis, "node-h", tmp_path), "node-h"
    hanging = TakeStacks(id=new_id(), attempt=ATTEMPT, round=ROUND)
    log = LogSlice(id=new_id(), attempt=ATTEMPT, round=ROUND, rank=0, stream="stdout")
    try:
        for request in (hanging, log):
            valkey.redis.rpush(streams.requests(node), to_json(request))
            asked.step()
        answered = valkey.redis.blpop([streams.answer(log.id)], timeout=60)
        assert answered is not None
        assert not valkey.redis.exists(streams.answer(hanging.id))
    finally:
        over.set()
    assert valkey.redis.blpop([streams.answer(hanging.id)], timeout=60) is not None

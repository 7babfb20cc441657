"""Processes by identity: a pid alone is nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agents import procs
from tests.waiting import wait_until

FORKS_AWAY = (
    "import subprocess, time; subprocess.Popen(['sleep','600'], start_new_session=True); time.sleep(600)"
)


@pytest.fixture
def mark() -> Iterator[str]:
    mark = f"{uuid.uuid4().hex}/here"
    yield mark
    procs.end_marked(mark)


def start(mark: str, *command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command or ("sleep", "600"), env=os.environ | {procs.MARK: mark})


def test_a_process_is_known_by_pid_start_time_and_boot(mark: str) -> None:
    ref = procs.ref_of(start(mark).pid)
    assert ref is not None
    assert procs.is_alive(ref)
    assert not procs.is_alive(replace(ref, start_time=ref.start_time + 1))
    assert not procs.is_alive(replace(ref, boot_id="another boot"))


def test_a_zombie_counts_as_gone_and_its_parent_still_knows_it(mark: str) -> None:
    child = start(mark, "true")
    wait_until(lambda: procs.state_of(child.pid) == "Z", what="a zombie")
    ref = procs.ref_of_child(child.pid)
    assert procs.ref_of(child.pid) is None
    assert not procs.is_alive(ref)
    assert not procs.send_signal(ref, signal.SIGKILL)
    child.wait()
    with pytest.raises(ProcessLookupError):
        procs.ref_of_child(child.pid)


def test_a_signal_reaches_the_very_process_and_no_successor(mark: str) -> None:
    child = start(mark)
    ref = procs.ref_of_child(child.pid)
    assert not procs.send_signal(replace(ref, start_time=1), signal.SIGKILL)
    assert procs.is_alive(ref)
    assert procs.send_signal(ref, signal.SIGKILL)
    assert procs.wait_gone([ref], 5) == []
    child.wait()
    assert not procs.send_signal(ref, signal.SIGKILL)


def test_a_process_that_does_not_go_is_given_back(mark: str) -> None:
    ref = procs.ref_of_child(start(mark).pid)
    assert procs.wait_gone([ref], 0.05) == [ref]


def test_who_stands_still_is_asked_to_end_all_the_same(mark: str) -> None:
    child = start(mark)
    ref = procs.ref_of_child(child.pid)
    child.send_signal(signal.SIGSTOP)
    wait_until(lambda: procs.state_of(child.pid) == "T", what="it to stand still")
    assert procs.ask_to_end(ref)
    assert procs.wait_gone([ref], 20) == []
    assert child.wait() == -signal.SIGTERM
    assert not procs.ask_to_end(ref)


def test_marked_processes_are_found_in_whatever_session_they_are(mark: str) -> None:
    start(mark, sys.executable, "-S", "-c", FORKS_AWAY)
    found = wait_until(lambda: len(procs.find_marked(mark)) == 2 and procs.find_marked(mark), what="both")
    assert len({os.getsid(ref.pid) for ref in found}) == 2


def test_a_mark_that_only_begins_alike_is_another(mark: str) -> None:
    child = start(f"{mark}-b")
    assert procs.find_marked(mark) == []
    assert procs.carries_mark(child.pid, f"{mark}-b")
    procs.end_marked(f"{mark}-b")


def test_all_that_carry_a_mark_are_ended(mark: str) -> None:
    parent = start(mark, sys.executable, "-S", "-c", FORKS_AWAY)
    wait_until(lambda: len(procs.find_marked(mark)) == 2, what="both")
    ended, left = procs.end_marked(mark)
    assert parent.pid in ended
    assert len(ended) == 2
    assert left == []
    assert procs.find_marked(mark) == []
    assert procs.end_marked(mark) == ([], [])
    parent.wait()

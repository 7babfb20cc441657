"""Out of memory is said only when the kernel says so: in its log, or by the counter of a memory cgroup."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.runner import oom
from agents.runner.oom import OomKiller
from tests.agents.runner_harness import Attempt, write_script

EATS = """
import os
eaten = bytearray()
while os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    eaten += b"x" * 8_000_000
"""
LIMIT_BYTES = 900_000_000
"""More than a runner and its fork server take."""


def say_killed(log: Path, pid: int) -> None:
    with log.open("a") as file:
        file.write(f"3,901,77,-;Out of memory: Killed process {pid} (python) total-vm:1kB\n")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel log of our own, in the numbers of this process."""
    monkeypatch.setattr(oom, "FIRST_PIDS", Path("/proc/self/ns/pid").stat().st_ino)
    path = tmp_path / "kmsg"
    path.touch()
    return path


def test_the_kernel_log_names_the_process_and_what_it_said_before_does_not_count(log: Path) -> None:
    say_killed(log, 41)
    killer = OomKiller(log)
    say_killed(log, 42)
    assert killer.evidence(41) == ""
    assert killer.evidence(42) == "the kernel log"
    assert killer.evidence(4) == ""


def test_a_log_in_other_numbers_is_no_witness(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oom, "FIRST_PIDS", 1)
    killer = OomKiller(log, cgroup="")
    say_killed(log, 42)
    assert killer.evidence(42) == ""


@pytest.mark.parametrize(
    ("cgroup", "file"),
    [("0::/job", "job/memory.events"), ("4:memory:/job", "memory/job/memory.oom_control")],
)
def test_the_counter_of_the_cgroup_tells_where_the_log_may_not_be_read(
    cgroup: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oom, "CGROUPS", tmp_path)
    counter = tmp_path / file
    counter.parent.mkdir(parents=True)
    counter.write_text("oom_kill 3\n")
    killer = OomKiller(tmp_path / "none", cgroup)
    assert killer.evidence(42) == ""
    counter.write_text("low 0\noom_kill 4\n")
    assert killer.evidence(42) == "its memory cgroup, whose oom_kill rose from 3 to 4"
    assert killer.evidence(43) == ""


@pytest.fixture
def cgroup() -> Iterator[Path]:
    """A memory cgroup of the real kernel with little room."""
    own = Path("/proc/self/cgroup").read_text()
    first = re.search(r"^\d+:memory:(.*)$", own, flags=re.MULTILINE)
    parent, limit = (
        (oom.CGROUPS / "memory" / first[1].lstrip("/"), "memory.limit_in_bytes")
        if first
        else (oom.CGROUPS, "memory.max")
    )
    folder = parent / f"regroup-test-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / limit).write_text(str(LIMIT_BYTES))
    except OSError as error:
        if folder.is_dir():
            folder.rmdir()
        pytest.skip(f"no memory cgroup can be made here: {error}")
    yield folder
    folder.rmdir()


def test_a_worker_that_the_kernel_kills_for_memory_is_said_to_be(cgroup: Path, tmp_path: Path) -> None:
    with Attempt(tmp_path, script=write_script(tmp_path, EATS), nproc_per_node=1, start="exec") as attempt:
        (runner,) = attempt.start("node-a")
        (cgroup / "cgroup.procs").write_text(str(runner.process.pid))
        exited = runner.wait_for("worker_exited", round=1)
        assert (exited["role"], exited["ended_by"], exited["signal"]) == ("cause", "out_of_memory", "SIGKILL")
        assert exited["said"].startswith("killed by SIGKILL: the kernel's out-of-memory killer did it")
        assert exited["known_from"] in exited["said"]
        assert runner.finish()["outcome"] == "succeeded"

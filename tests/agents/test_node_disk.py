"""A node whose disk is full, or that has too many open files: said once, and training goes on."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents import procs
from agents.procs import ProcessRef
from agents.wire.commands import KillWorker, StopRunner
from tests.agents.node_harness import QUICK, Agent, Hub, Valkey, new_id, start_command
from tests.small_disk import NEEDS_ROOT, kept_full, mounted
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason=NEEDS_ROOT)

TRAIN = """
import pathlib, sys, time
for step in range(100_000):
    pathlib.Path(sys.argv[1]).write_text(str(step))
    time.sleep(0.05)
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", size_mib=48) as folder:
        yield folder


@pytest.fixture
def node(valkey: Valkey, small_disk: Path) -> Iterator[Agent]:
    name = f"node-{new_id()}"
    agent = Agent(valkey.url, name, small_disk / name, entry=QUICK, log=small_disk.with_name(f"{name}.log"))
    yield agent
    agent.end_all()


@pytest.fixture
def node_hub(valkey: Valkey, node: Agent) -> Hub:
    return Hub(valkey.redis, node.name)


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    """On another disk: how far the script has come."""
    return tmp_path / "step"


def train(node: Agent, hub: Hub, steps: Path) -> tuple[str, ProcessRef]:
    script = steps.with_name("train.py")
    script.write_text(TRAIN)
    command = start_command(node.name, str(steps), script=str(script), max_restarts=3)
    assert hub.carry_out(command)["outcome"] == "done"
    return command.message.attempt, hub.worker(command.message.attempt)


def wait_steps(steps: Path) -> None:
    """Until the script has made ten steps more."""
    begun = int(steps.read_text() or 0) if steps.exists() else 0
    wait_until(lambda: steps.exists() and int(steps.read_text() or 0) > begun + 10, 30, "the script to go on")


def kill(attempt: str, worker: ProcessRef) -> KillWorker:
    return KillWorker(
        id=new_id(), attempt=attempt, round=1, rank=0, pid=worker.pid, start_time=worker.start_time
    )


def test_on_a_full_disk_the_job_goes_on_is_killed_and_stopped_and_nothing_is_lost(
    node: Agent, node_hub: Hub, small_disk: Path, steps: Path
) -> None:
    attempt, worker = train(node, node_hub, steps)
    wait_until((node.data / "reserve").exists, what="the reserve on the disk")
    with kept_full(small_disk):
        wait_until(lambda: not (node.data / "reserve").exists(), what="the reserve to be given up")
        wait_until(lambda: "is full" in str(node_hub.lease().get("troubles")), what="the lease to name it")
        wait_steps(steps)
        recorded = node_hub.lease()["seq"]
        node_hub.send(kill(attempt, worker))
        wait_until(lambda: not procs.is_alive(worker), what="the worker to be killed")
        wait_until(lambda: node_hub.lease()["seq"] >= recorded + 2, what="the kill to be received and ended")
        refused = start_command(node.name, script=str(steps.with_name("train.py")))
        node_hub.send(refused)
        # While the disk is full: with room before it the start would be noted, and carried out.
        wait_until(lambda: node_hub.lease()["seq"] >= recorded + 4, what="the start to be received and ended")
    node_hub.wait_for("workers_started", attempt=attempt, round=2)
    assert "cannot be written" in node_hub.wait_for("command_ended", command=refused.id)["reason"]
    assert node_hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=5))["outcome"] == "done"
    wait_until(lambda: node_hub.lease().get("troubles") == [], what="the trouble to be over")
    node_hub.wait_for("runner_finished", attempt=attempt, inferred=False)
    assert node.log.read_text().count("trouble what=disk") == 1


def test_with_too_many_open_files_training_goes_on_and_a_kill_fails_in_words(
    node: Agent, node_hub: Hub, steps: Path
) -> None:
    attempt, worker = train(node, node_hub, steps)
    before = resource.prlimit(node.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(node.process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
    command = kill(attempt, worker)
    node_hub.send(command)
    wait_until(lambda: "open files" in str(node_hub.lease().get("troubles")), what="the lease to say it")
    wait_steps(steps)
    resource.prlimit(node.process.pid, resource.RLIMIT_NOFILE, before)
    wait_until(lambda: node_hub.lease().get("troubles") == [], what="the trouble to be over")
    ended = node_hub.wait_for("command_ended", command=command.id)
    assert ended["outcome"] == "failed"
    assert "Too many open files" in ended["reason"]
    assert node_hub.carry_out(kill(attempt, worker))["outcome"] == "done"
    node_hub.wait_for("workers_started", attempt=attempt, round=2)
    said = [line for line in node.log.read_text().splitlines() if "Too many open files" in line]
    assert len(said) == len({line.partition("what=")[2].partition(":")[0] for line in said}), said


def test_a_disk_without_room_at_the_start_is_named(valkey: Valkey, small_disk: Path) -> None:
    data = small_disk / "node"
    data.mkdir()
    command = [str(Path(sys.executable).with_name("regroup-agent")), "--redis-url", valkey.url]
    command += ["--name", "full", "--data", str(data), "--slots", "1"]
    with kept_full(small_disk):
        ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 2
    assert f"The data folder {str(data)!r} cannot be used: No space left on device" in ended.stderr

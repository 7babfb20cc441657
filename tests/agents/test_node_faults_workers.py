"""A worker is frozen or slowed on its node, and always goes on: in time, when asked, when the agent dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from agents import procs
from agents.procs import ProcessRef
from agents.wire.commands import FreezeWorker, SlowWorker, StopFaults, StopRunner
from tests.agents.node_harness import Agent, Hub, new_id, start_command
from tests.waiting import wait_until

LONG_S = 600.0


@pytest.fixture
def attempt(agent: Agent, hub: Hub) -> str:
    command = start_command(agent.name)
    hub.carry_out(command)
    return command.message.attempt


@pytest.fixture
def worker(attempt: str, hub: Hub) -> ProcessRef:
    return hub.worker(attempt)


def freeze(attempt: str, worker: ProcessRef, seconds: float, **fields: Any) -> FreezeWorker:
    values = {"pid": worker.pid, "start_time": worker.start_time} | fields
    return FreezeWorker(id=new_id(), attempt=attempt, round=1, rank=0, seconds=seconds, **values)


def slow(attempt: str, worker: ProcessRef, seconds: float, share: float) -> SlowWorker:
    return SlowWorker(
        id=new_id(),
        attempt=attempt,
        round=1,
        rank=0,
        pid=worker.pid,
        start_time=worker.start_time,
        seconds=seconds,
        share=share,
    )


def is_still(worker: ProcessRef) -> bool:
    return procs.state_of(worker.pid) == "T"


def test_a_frozen_worker_is_seen_to_stand_still_and_goes_on_by_itself(
    attempt: str, worker: ProcessRef, hub: Hub
) -> None:
    command = freeze(attempt, worker, 1.0)
    ended = hub.carry_out(command)
    assert ended["outcome"] == "done", ended
    assert ended["evidence"]["stood_s"] >= 1.0
    assert ended["evidence"]["state_after"] in ("S", "R")
    begun = hub.wait_for("fault_begun", command=command.id)
    assert begun["says"].startswith(f"Rank 0 of round 1 (pid {worker.pid}) on {hub.node} stands still")
    assert procs.is_alive(worker)


def test_all_faults_end_when_they_are_stopped_and_others_may_begin(
    attempt: str, worker: ProcessRef, hub: Hub
) -> None:
    command = freeze(attempt, worker, LONG_S)
    hub.send(command)
    hub.wait_for("fault_begun", command=command.id)
    assert is_still(worker)
    stopped = hub.carry_out(StopFaults(id=new_id()))
    assert (stopped["outcome"], stopped["evidence"]) == ("done", {"stopped": 1})
    assert not is_still(worker)
    ended = hub.wait_for("command_ended", command=command.id)
    assert ended["outcome"] == "done"
    assert "all faults were stopped" in ended["reason"]
    assert hub.carry_out(StopFaults(id=new_id()))["evidence"] == {"stopped": 0}
    assert hub.carry_out(freeze(attempt, worker, 0.1))["outcome"] == "done"


def test_a_worker_goes_on_at_once_when_its_node_agent_is_killed(
    attempt: str, worker: ProcessRef, agent: Agent, hub: Hub
) -> None:
    command = freeze(attempt, worker, LONG_S)
    hub.send(command)
    hub.wait_for("fault_begun", command=command.id)
    agent.kill()
    wait_until(lambda: not is_still(worker), what="the worker to go on with no node agent there")
    agent.start()
    ended = hub.wait_for("command_ended", command=command.id)
    assert ended["outcome"] == "done"
    assert "The node agent ended meanwhile, and with it the fault" in ended["reason"]
    assert ended["evidence"]["state_after"] in ("S", "R")


def test_the_next_node_agent_lets_it_go_on_where_the_guard_died_too(
    attempt: str, worker: ProcessRef, agent: Agent, hub: Hub
) -> None:
    command = freeze(attempt, worker, LONG_S)
    hub.send(command)
    hub.wait_for("fault_begun", command=command.id)
    for pid in guards_of(worker):
        os.kill(pid, signal.SIGKILL)
    agent.kill()
    wait_until(lambda: not guards_of(worker), what="the guard to be gone")
    assert is_still(worker)
    agent.start()
    assert hub.wait_for("command_ended", command=command.id)["outcome"] == "done"
    assert not is_still(worker)


def guards_of(worker: ProcessRef) -> list[int]:
    """Processes that watch that this worker goes on."""

    def line_of(pid: int) -> list[str]:
        try:
            return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        except OSError:
            return []

    lines = ((pid, line_of(pid)) for pid in procs.all_pids())
    return [pid for pid, line in lines if str(worker.pid) in line and any("release.py" in w for w in line)]


def test_a_worker_that_was_replaced_is_not_frozen(attempt: str, worker: ProcessRef, hub: Hub) -> None:
    ended = hub.carry_out(freeze(attempt, worker, 1.0, start_time=worker.start_time - 1))
    assert ended["outcome"] == "refused"
    assert "has already ended; nothing was signalled" in ended["reason"]
    stranger = procs.ref_of_child(os.getpid())
    assert hub.carry_out(freeze(attempt, stranger, 1.0))["outcome"] == "refused"


def test_a_job_with_a_frozen_worker_can_be_stopped(attempt: str, worker: ProcessRef, hub: Hub) -> None:
    command = freeze(attempt, worker, LONG_S)
    hub.send(command)
    hub.wait_for("fault_begun", command=command.id)
    assert hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=5))["outcome"] == "done"
    ended = hub.wait_for("command_ended", command=command.id)
    assert ended["evidence"]["state_after"] == "gone"
    assert not procs.is_alive(worker)


def test_a_slowed_worker_runs_about_its_share_and_runs_afterwards(
    attempt: str, worker: ProcessRef, hub: Hub
) -> None:
    command = slow(attempt, worker, 2.0, 0.25)
    hub.send(command)
    hub.wait_for("fault_begun", command=command.id)
    ended = hub.wait_for("command_ended", command=command.id)
    assert ended["outcome"] == "done", ended
    assert ended["evidence"]["turns"] >= 2
    assert ended["evidence"]["stood_s"] > 0.5
    assert not is_still(worker)


def test_a_slowed_worker_runs_on_when_its_node_agent_is_killed(
    attempt: str, worker: ProcessRef, agent: Agent, hub: Hub
) -> None:
    command = slow(attempt, worker, LONG_S, 0.05)
    hub.send(command)
    hub.wait_for("fault_begun", command=command.id)
    agent.kill()
    wait_until(lambda: not guards_of(worker) and not is_still(worker), what="the worker to go on")
    agent.start()
    assert hub.wait_for("command_ended", command=command.id)["outcome"] == "done"

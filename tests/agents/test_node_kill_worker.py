"""A kill hits the worker that was meant, or nothing."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Any

import pytest

from agents import procs
from agents.procs import ProcessRef
from agents.wire.commands import KillWorker, StopRunner
from tests.agents.node_harness import Agent, Hub, new_id, start_command
from tests.waiting import wait_until


def kill_command(attempt: str, worker: ProcessRef, **fields: Any) -> KillWorker:
    values = {"pid": worker.pid, "start_time": worker.start_time} | fields
    return KillWorker(id=new_id(), attempt=attempt, round=1, rank=0, **values)


@pytest.fixture
def attempt(agent: Agent, hub: Hub) -> str:
    command = start_command(agent.name)
    hub.carry_out(command)
    return command.message.attempt


def test_a_killed_worker_is_seen_gone(attempt: str, hub: Hub) -> None:
    worker = hub.worker(attempt)
    ended = hub.carry_out(kill_command(attempt, worker))
    assert ended["outcome"] == "done", ended
    assert ended["evidence"]["pid"] == worker.pid
    assert ended["evidence"]["gone_after_s"] >= 0
    assert not procs.is_alive(worker)


def test_another_signal_is_done_when_sent(attempt: str, hub: Hub) -> None:
    worker = hub.worker(attempt)
    ended = hub.carry_out(kill_command(attempt, worker, signal="SIGSTOP"))
    assert ended["outcome"] == "done"
    wait_until(lambda: procs.state_of(worker.pid) == "T", what="the worker to stand still")


def test_a_worker_that_stands_still_is_ended_by_any_signal_that_ends(attempt: str, hub: Hub) -> None:
    worker = hub.worker(attempt)
    os.kill(worker.pid, signal.SIGSTOP)
    wait_until(lambda: procs.state_of(worker.pid) == "T", what="the worker to stand still")
    ended = hub.carry_out(kill_command(attempt, worker, signal="SIGABRT"))
    assert ended["outcome"] == "done", ended
    assert not procs.is_alive(worker)


def test_a_worker_that_has_been_replaced_is_not_signalled(attempt: str, hub: Hub) -> None:
    worker = hub.worker(attempt)
    ended = hub.carry_out(kill_command(attempt, worker, start_time=worker.start_time - 1))
    assert ended["outcome"] == "refused"
    assert ended["reason"] == (
        f"Rank 0 of round 1 (pid {worker.pid}) has already ended; nothing was signalled."
    )
    assert procs.is_alive(worker)


def test_a_zombie_counts_as_gone(attempt: str, hub: Hub) -> None:
    zombie = subprocess.Popen(["true"])
    wait_until(lambda: procs.state_of(zombie.pid) == "Z", what="a zombie")
    ref = procs.ref_of_child(zombie.pid)
    ended = hub.carry_out(kill_command(attempt, ref))
    zombie.wait()
    assert ended["outcome"] == "refused"
    assert "has already ended" in ended["reason"]


def test_a_process_of_somebody_else_is_not_signalled(attempt: str, hub: Hub) -> None:
    ourselves = procs.ref_of_child(os.getpid())
    ended = hub.carry_out(kill_command(attempt, ourselves))
    assert ended["outcome"] == "refused"
    assert f"is not a worker of attempt {attempt}" in ended["reason"]


def test_the_runner_is_no_worker(agent: Agent, attempt: str, hub: Hub) -> None:
    runner = agent.bundle(attempt).process()
    assert runner is not None
    assert hub.carry_out(kill_command(attempt, runner))["outcome"] == "refused"
    assert procs.is_alive(runner)


def test_a_signal_that_does_not_exist_is_refused(attempt: str, hub: Hub) -> None:
    ended = hub.carry_out(kill_command(attempt, hub.worker(attempt), signal="SIGNOTHING"))
    assert ended["outcome"] == "refused"
    assert "There is no signal 'SIGNOTHING'" in ended["reason"]


def test_a_kill_is_carried_out_while_a_stop_waits_for_its_grace(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name, "deaf")
    hub.carry_out(command)
    worker = hub.worker(command.message.attempt)
    stop = StopRunner(id=new_id(), attempt=command.message.attempt, grace_s=600)
    hub.send(stop)
    hub.wait_for("command_received", command=stop.id)
    assert hub.carry_out(kill_command(command.message.attempt, worker))["outcome"] == "done"
    assert not hub.found("command_ended", command=stop.id)

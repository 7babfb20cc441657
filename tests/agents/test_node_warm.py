"""The node's warm process: what is forked from it is a runner like any other, and nothing is lost with it."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from agents import procs
from agents.wire.commands import StartRunner, StopRunner
from tests.agents.node_harness import Agent, Hub, Valkey, new_id, start_command
from tests.waiting import wait_until

SHOWS = """
import json, os, sys, time
facts = {"argv": sys.argv, "env": dict(os.environ), "flags": list(sys.flags), "path": sys.path}
print(json.dumps(facts), flush=True)
time.sleep(600)
"""


@pytest.fixture
def agent(valkey: Valkey, tmp_path: Path) -> Iterator[Agent]:
    entry = Path(sys.executable).with_name("regroup-agent")
    name = f"node-{new_id()}"
    agent = Agent(valkey.url, name, tmp_path / name, entry=entry, warm=True)
    yield agent
    agent.end_all()


@pytest.fixture
def hub(valkey: Valkey, agent: Agent) -> Hub:
    return Hub(valkey.redis, agent.name)


def find_warm(agent: Agent) -> psutil.Process | None:
    """The one that waits; those that were forked from it show another command."""
    children = psutil.Process(agent.process.pid).children()
    return next((child for child in children if "warm/boot.py" in " ".join(child.cmdline())), None)


def wait_warm(agent: Agent) -> psutil.Process:
    """Once it waits for requests with all its imports done."""
    found = wait_until(lambda: find_warm(agent), 30, "a warm process")
    wait_until(lambda: "select" in wchan(found) or "poll" in wchan(found), 60, "it to be ready")
    return found


def has_gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def wchan(process: psutil.Process) -> str:
    return Path(f"/proc/{process.pid}/wchan").read_text() or Path(f"/proc/{process.pid}/syscall").read_text()


def start(agent: Agent, hub: Hub, tmp_path: Path, **spec: Any) -> tuple[StartRunner, str]:
    """A job whose worker shows what it sees; how its runner was started."""
    script = tmp_path / "shows.py"
    script.write_text(SHOWS)
    command = start_command(agent.name, "--lr", "0.1", script=str(script), max_restarts=3, **spec)
    ended = hub.carry_out(command)
    assert ended["outcome"] == "done", ended
    started = hub.wait_for("runner_started", attempt=command.message.attempt)
    assert ended["evidence"]["pid"] == started["pid"]
    return command, started["start"]


def shown(agent: Agent, attempt: str, round_number: int = 1) -> dict[str, object]:
    log = agent.bundle(attempt).log(round_number, 0, "stdout")
    wait_until(lambda: log.exists() and log.read_text().endswith("\n"), 30, "the worker to show what it sees")
    facts: dict[str, object] = json.loads(log.read_text())
    return facts


def test_a_job_of_the_node_s_own_environment_starts_warm_and_one_with_its_own_cold(
    agent: Agent, hub: Hub, tmp_path: Path
) -> None:
    wait_warm(agent)
    quick, how = start(agent, hub, tmp_path)
    assert how == "warm"
    plain, how = start(agent, hub, tmp_path, env={"MINE": "1"})
    assert how == "cold"
    seen, other = shown(agent, quick.message.attempt), shown(agent, plain.message.attempt)
    assert seen["argv"] == other["argv"]
    assert seen["flags"] == other["flags"]
    assert set(other["env"]) - set(seen["env"]) == {"MINE"}  # type: ignore[call-overload]
    assert set(seen["env"]) <= set(other["env"])  # type: ignore[call-overload]


def test_its_runner_and_keeper_are_found_by_mark_and_bundle_and_stop_as_others_do(
    agent: Agent, hub: Hub, tmp_path: Path
) -> None:
    warm = wait_warm(agent)
    command, how = start(agent, hub, tmp_path)
    assert how == "warm"
    attempt = command.message.attempt
    for bundle in (agent.bundle(attempt), agent.keeper(attempt)):
        ref = bundle.process()
        assert ref is not None
        assert procs.carries_mark(ref.pid, bundle.mark)
        assert str(bundle.folder) in psutil.Process(ref.pid).cmdline()
        assert psutil.Process(ref.pid).ppid() == warm.pid
        assert os.getsid(ref.pid) == ref.pid
    assert not procs.carries_mark(warm.pid, agent.bundle(attempt).mark)
    hub.wait_for("workers_started", attempt=attempt, round=1)
    assert hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=5))["outcome"] == "done"
    finished = hub.wait_for("runner_finished", attempt=attempt)
    assert (finished["outcome"], finished["inferred"]) == ("stopped", False)
    settled = hub.wait_for("runner_settled", attempt=attempt)
    assert (settled["exit_code"], settled["ended_pids"]) == (0, [])
    hub.wait_for("keeper_finished", attempt=attempt)
    assert warm.is_running()


def test_a_runner_that_is_killed_is_told_by_its_signal(agent: Agent, hub: Hub, tmp_path: Path) -> None:
    wait_warm(agent)
    command, how = start(agent, hub, tmp_path)
    assert how == "warm"
    attempt = command.message.attempt
    worker = hub.worker(attempt)
    runner = agent.bundle(attempt).process()
    assert runner is not None
    procs.send_signal(runner, signal.SIGKILL)
    finished = hub.wait_for("runner_finished", attempt=attempt)
    assert (finished["inferred"], "SIGKILL" in finished["reason"]) == (True, True)
    assert not procs.is_alive(worker)
    hub.wait_free(2)


def test_what_was_forked_outlives_the_warm_process_and_the_node_agent(
    agent: Agent, hub: Hub, tmp_path: Path
) -> None:
    warm = wait_warm(agent)
    command, how = start(agent, hub, tmp_path)
    assert how == "warm"
    attempt = command.message.attempt
    worker = hub.worker(attempt)
    warm.kill()
    another = wait_until(lambda: find_warm(agent) not in (None, warm) and find_warm(agent), 30, "another one")
    assert procs.is_alive(worker)
    agent.kill()
    wait_until(
        lambda: not another.is_running() or another.status() == "zombie", 20, "it to end with its agent"
    )
    agent.start()
    hub.wait_for("runner_adopted", attempt=attempt)
    assert procs.is_alive(worker)
    assert hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=5))["outcome"] == "done"
    assert hub.wait_for("runner_finished", attempt=attempt)["outcome"] == "stopped"


def test_a_warm_process_that_does_not_answer_is_done_without(agent: Agent, hub: Hub, tmp_path: Path) -> None:
    warm = wait_warm(agent)
    warm.suspend()
    command, how = start(agent, hub, tmp_path)
    assert how == "cold"
    assert len(procs.find_marked(agent.keeper(command.message.attempt).mark)) == 1
    wait_until(lambda: has_gone(warm), 20, "the silent one to be ended")


def test_it_can_be_switched_off(valkey: Valkey, tmp_path: Path) -> None:
    entry = Path(sys.executable).with_name("regroup-agent")
    name = f"node-{new_id()}"
    agent = Agent(valkey.url, name, tmp_path / name, entry=entry, warm=False)
    try:
        hub = Hub(valkey.redis, name)
        assert start(agent, hub, tmp_path)[1] == "cold"
        assert find_warm(agent) is None
    finally:
        agent.end_all()

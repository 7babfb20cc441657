"""The node's warm process: what is forked from it is a runner like any other, and nothing is lost with it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from agents import procs
from agents.bundle import Bundle, bundle_of
from agents.node import spawn
from agents.node.warm import Warm, WarmProcess
from agents.wire.commands import StartRunner, StopRunner
from tests.agents.node_harness import Agent, Hub, Valkey, incarnate, new_id, start_command
from tests.waiting import wait_until

FOR_STACKS = 100
"""A descriptor out of the way of those that a script opens."""
STAND_IN_RUNNER = Path(__file__).with_name("stand_in_runner.py")

SHOWS = """
import json, os, sys, time
listed = os.listdir("/proc/self/fd")
open_fds = [int(fd) for fd in listed if os.path.exists(f"/proc/self/fd/{fd}")]
facts = {"argv": sys.argv, "env": dict(os.environ), "flags": list(sys.flags), "path": sys.path}
facts |= {"fds": sorted(open_fds), "stdin": os.readlink("/proc/self/fd/0")}
with open("/proc/self/status") as status:
    signals = [line for line in status if line.startswith(("SigBlk", "SigIgn"))]
facts |= {"signals": signals, "umask": os.umask(0o77), "nice": os.nice(0)}
facts |= {"leads": os.getsid(0) == os.getpid()}
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
    with contextlib.suppress(psutil.NoSuchProcess):  # of another that the node agent has just run
        children = psutil.Process(agent.process.pid).children()
        return next((child for child in children if "warm/boot.py" in " ".join(child.cmdline())), None)
    return None


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
    wait_until(lambda: log.exists() and log.read_text().endswith("\n"), 90, "the worker to show what it sees")
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


def test_workers_hold_nothing_of_ours_however_they_and_their_runner_were_started(
    agent: Agent, hub: Hub, tmp_path: Path
) -> None:
    wait_warm(agent)
    seen = []
    for env in ({}, {"MINE": "1"}):
        command, how = start(agent, hub, tmp_path, env=env)
        attempt = command.message.attempt
        wait_up(hub, attempt, 1)
        worker = hub.worker(attempt)
        seen.append(beside_stacks(shown(agent, attempt)))
        runner = agent.bundle(attempt).process()
        assert runner is not None
        wait_until(partial(has_fork_server, runner.pid), 60, "a fork server")
        procs.send_signal(worker, signal.SIGKILL)
        wait_up(hub, attempt, 2)
        forked = shown(agent, attempt, round_number=2)
        assert forked["fds"] == [0, 1, 2, FOR_STACKS]
        seen.append(beside_stacks(forked))
        assert how == ("cold" if env else "warm")
        assert [seen[-1]["fds"], seen[-1]["stdin"]] == [[0, 1, 2], "/dev/null"]
    for key in ("fds", "stdin", "signals", "umask", "nice", "leads", "argv", "flags"):
        assert [facts[key] for facts in seen] == [seen[0][key]] * 4, key


def beside_stacks(facts: dict[str, Any]) -> dict[str, Any]:
    """Without what a forked worker has open to answer when its stack is asked for."""
    return facts | {"fds": [fd for fd in facts["fds"] if fd != FOR_STACKS]}


def wait_up(hub: Hub, attempt: str, number: int) -> None:
    wait_until(lambda: hub.found("workers_started", attempt=attempt, round=number), 90, f"round {number}")


def has_fork_server(runner: int) -> bool:
    children = psutil.Process(runner).children()
    return any("regroup fork server" in " ".join(child.cmdline()) for child in children)


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


def test_the_runner_after_one_that_died_starts_warm_too(agent: Agent, hub: Hub, tmp_path: Path) -> None:
    wait_warm(agent)
    command, how = start(agent, hub, tmp_path)
    assert how == "warm"
    attempt = command.message.attempt
    worker = hub.worker(attempt)
    runner = agent.bundle(attempt).process()
    assert runner is not None
    procs.send_signal(runner, signal.SIGKILL)
    hub.wait_for("runner_settled", attempt=attempt, incarnation=1)
    assert not procs.is_alive(worker)
    ended = hub.carry_out(incarnate(command, 2))
    assert ended["outcome"] == "done", ended
    started = hub.wait_for("runner_started", source=f"run/{attempt}/{agent.name}/2")
    assert (started["start"], started["pid"]) == ("warm", ended["evidence"]["pid"])
    assert procs.carries_mark(started["pid"], agent.bundle(attempt, 2).mark)
    wait_up(hub, attempt, 2)
    assert hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=5))["outcome"] == "done"
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
    # It looks for its agent once it has imported torch.
    wait_until(lambda: has_gone(another), 90, "it to end with its agent")
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


def test_one_that_wakes_up_after_its_agent_was_killed_starts_nothing(
    agent: Agent, hub: Hub, tmp_path: Path
) -> None:
    """By then the next agent has looked for what it may have forked, and started it itself."""
    warm = wait_warm(agent)
    script = tmp_path / "sleeps.py"
    script.write_text("import time\ntime.sleep(600)\n")
    command = start_command(agent.name, script=str(script))
    attempt = command.message.attempt
    warm.suspend()
    hub.send(command)
    wait_until(agent.keeper(attempt).own_log.exists, what="it to be asked")
    agent.kill()
    agent.start()
    assert hub.wait_for("command_ended", command=command.id)["outcome"] == "done"
    warm.resume()
    wait_until(lambda: has_gone(warm), 20, "it to end")
    keeper = agent.keeper(attempt)
    assert procs.find_marked(keeper.mark) == [keeper.process()]


class Silent(Warm):
    """Has forked it, and died before it told the fork to go on, which therefore ends."""

    def fork(self, bundle: Bundle, *facts: Any) -> None:
        self.forked = subprocess.Popen(
            ["sh", "-c", "sleep 0.3", str(bundle.folder)], env={**os.environ, procs.MARK: bundle.mark}
        )
        threading.Thread(target=self.forked.wait).start()


def test_a_fork_that_was_not_told_to_go_on_is_not_taken_for_the_runner(tmp_path: Path) -> None:
    message = start_command("node-a").message
    bundle = bundle_of(Bundle, tmp_path, message.attempt)
    bundle.create(message)
    warm = Silent(sys.executable, {}, tmp_path)
    started = spawn.start(bundle, message, sys.executable, STAND_IN_RUNNER, warm)
    try:
        assert started.ref is not None
        assert started.ref.pid != warm.forked.pid
        assert procs.is_alive(started.ref)
    finally:
        procs.end_marked(bundle.mark)


STAND_IN = """
import json, os, socket, subprocess, sys, time
agent = socket.socket(fileno=int(sys.argv[2]))
ended = subprocess.Popen(["true"])
agent.send(json.dumps({"started": ended.pid, "start_time": 1}).encode())
agent.send(json.dumps({"ended": ended.pid, "code": ended.wait()}).encode())
agent.send(json.dumps({"ready": os.getpid()}).encode())
time.sleep(600)
"""
"""A warm process whose fork ends at once, told before anybody has looked; later it says nothing."""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WarmProcess]:
    boot = tmp_path / "stand_in_warm.py"
    boot.write_text(STAND_IN)
    monkeypatch.setattr("agents.node.warm.BOOT", boot)
    monkeypatch.setattr("agents.node.warm.ANSWER_S", 0.2)
    process = WarmProcess(sys.executable, {}, tmp_path / "warm.log")
    wait_until(lambda: process.is_ready, what="the stand-in to be ready")
    yield process
    process.end()


def test_a_fork_that_ends_at_once_was_started_all_the_same(stand_in: WarmProcess) -> None:
    child = stand_in.fork({}, [])
    assert child is not None
    assert child.poll() == 0


def test_one_that_does_not_answer_is_gone_before_anything_is_started_anew(stand_in: WarmProcess) -> None:
    assert stand_in.fork({}, []) is not None
    assert stand_in.fork({}, []) is None
    assert not Path(f"/proc/{stand_in.pid}").exists()
    assert "does not answer" in stand_in.death


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

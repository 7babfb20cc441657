"""The first process of a node's container: agents come back, jobs do not notice, the end is orderly."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from agents import procs
from agents.bundle import Bundle, KeeperBundle
from agents.procs import ProcessRef
from tests.agents.node_harness import STAND_IN, Hub, Valkey, new_id, start_command
from tests.docker.init_process import InitProcess, is_gone
from tests.waiting import wait_until

Start = Callable[..., InitProcess]

AGENT = f'exec "{sys.executable}" "{STAND_IN}" "$@"'
"""The real node agent; what it starts in place of a runner needs no torch."""
INSTALLED = f'exec "{Path(sys.executable).with_name("regroup-agent")}" "$@"'
IDLE = "exec sleep 600"
ORPHAN = """\
setsid sh -c 'echo $$ > orphan.new; mv orphan.new orphan; {0}' &
while [ ! -e orphan ]; do sleep 0.02; done
"""
"""A child of the shell that outlives it."""
AS_FIRST = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")


def agent_arguments(valkey: Valkey, folder: Path, name: str) -> list[str]:
    where = ["--redis-url", valkey.url, "--data", str(folder / "data"), "--address", "127.0.0.1"]
    return [*where, "--name", name, "--slots", "2"]


def start_job(hub: Hub) -> tuple[str, ProcessRef]:
    command = start_command(hub.node)
    assert hub.carry_out(command)["outcome"] == "done"
    return command.message.attempt, hub.worker(command.message.attempt)


def test_a_killed_agent_comes_back_and_adopts_what_trained_on(
    start_init: Start, valkey: Valkey, tmp_path: Path
) -> None:
    hub = Hub(valkey.redis, f"node-{new_id()}")
    init = start_init(AGENT, *agent_arguments(valkey, tmp_path, hub.node))
    first = hub.wait_for("node_started")["pid"]
    attempt, worker = start_job(hub)
    os.kill(first, signal.SIGKILL)
    adopted = hub.wait_for("runner_adopted", attempt=attempt)
    wait_until(lambda: len(hub.found("node_started")) == 2, what="the second agent")
    second = hub.found("node_started")[1]["pid"]
    keeper = hub.wait_for("keeper_started", attempt=attempt)["pid"]
    assert {child.pid for child in init.children()} == {second, adopted["pid"], keeper}
    assert procs.is_alive(worker)
    assert "the node agent ended with status 137; started again in 0.2 s." in init.said
    hub.wait_free(1)


def test_a_stop_ends_the_agent_and_then_lets_runners_end_in_order(
    start_init: Start, valkey: Valkey, tmp_path: Path
) -> None:
    hub = Hub(valkey.redis, f"node-{new_id()}")
    init = start_init(AGENT, *agent_arguments(valkey, tmp_path, hub.node))
    attempt, worker = start_job(hub)
    assert init.stop() == 0
    assert hub.found("node_stopping")
    bundle = Bundle(tmp_path / "data" / "bundles" / attempt)
    assert '"kind":"runner_finished"' in bundle.journal.read_text().splitlines()[-1]
    assert not procs.is_alive(worker)
    assert procs.find_marked(bundle.mark) == []


def test_real_workers_train_on_without_an_agent_and_end_in_order_with_the_container(
    start_init: Start, valkey: Valkey, tmp_path: Path
) -> None:
    hub = Hub(valkey.redis, f"node-{new_id()}")
    init = start_init(INSTALLED, *agent_arguments(valkey, tmp_path, hub.node), REGROUP_STOP_GRACE_S="30")
    script = tmp_path / "train.py"
    script.write_text("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    command = start_command(hub.node, script=str(script), nproc_per_node=2, max_restarts=3)
    assert hub.carry_out(command)["outcome"] == "done"
    attempt = command.message.attempt
    workers = hub.wait_for("workers_started", attempt=attempt, round=1)["workers"]
    os.kill(hub.wait_for("node_started")["pid"], signal.SIGKILL)
    hub.wait_for("runner_adopted", attempt=attempt)
    assert [procs.start_time(worker["pid"]) for worker in workers] == [w["start_time"] for w in workers]
    assert init.stop(timeout_s=40) == 0
    bundle = Bundle(tmp_path / "data" / "bundles" / attempt)
    last = json.loads(bundle.journal.read_text().splitlines()[-1])
    assert (last["kind"], last["outcome"]) == ("runner_finished", "stopped")
    keeper = KeeperBundle(tmp_path / "data" / "keepers" / attempt)
    assert json.loads(keeper.journal.read_text().splitlines()[-1])["kind"] == "keeper_finished"
    assert procs.find_marked(keeper.mark) == []
    assert not hub.found("restart_begun")
    assert procs.find_marked(bundle.mark) == []


def test_settings_that_the_agent_refuses_end_the_container_with_its_sentence(start_init: Start) -> None:
    init = start_init(INSTALLED, "--slots", "many")
    assert init.process.wait(20) == 2
    assert "regroup-agent: No Redis is named." in init.said
    assert "agent-init: the node agent refused its settings, as it says above" in init.said


def test_a_refusal_later_on_ends_no_job(start_init: Start) -> None:
    """As when the GPUs cannot be read for a while after the agent was killed."""
    init = start_init(f"[ -e orphan ] && exit 2\n{ORPHAN.format('exec sleep 600')}kill -9 $$")
    orphan = init.number_in("orphan")
    wait_until(lambda: init.said.count("status 2; started again in") >= 2, what="two more attempts")
    assert not is_gone(orphan)
    assert init.stop() == 2
    assert is_gone(orphan)


def test_orphans_that_end_leave_no_zombie(start_init: Start) -> None:
    init = start_init(ORPHAN.format("sleep 0.3") + IDLE)
    orphan = init.number_in("orphan")
    agent = init.children()[0].pid
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: is_gone(orphan), what="the orphan to be reaped")
    wait_until(lambda: is_gone(agent), what="the agent to be reaped")
    assert init.process.poll() is None


def test_the_pause_grows_while_agents_keep_ending(start_init: Start) -> None:
    init = start_init("exit 1")
    wait_until(lambda: "started again in 0.8 s" in init.said, what="the third pause")
    pauses = [line.split()[-2] for line in init.said.splitlines()]
    assert pauses[:3] == ["0.2", "0.4", "0.8"]
    assert init.stop() == 1


def test_what_is_deaf_is_killed_when_the_grace_is_over(start_init: Start) -> None:
    deaf = 'trap "" TERM\n' + ORPHAN.format("while :; do sleep 0.1; done") + IDLE
    init = start_init(deaf, REGROUP_STOP_GRACE_S="1")
    orphan = init.number_in("orphan")
    assert init.stop() == 137
    assert is_gone(orphan)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_the_agent_gets_the_signal_itself_and_its_exit_status_is_passed_on(
    start_init: Start, signum: signal.Signals
) -> None:
    name = signum.name.removeprefix("SIG")
    init = start_init(f"trap 'exit 7' {name}\necho $$ > ready\nwhile :; do sleep 0.05; done")
    init.number_in("ready")
    assert init.stop(signum) == 7


def test_it_is_stopped_and_reaps_as_the_first_process_too(start_init: Start) -> None:
    """There the kernel drops every signal that nobody has asked for."""
    init = start_init(ORPHAN.format("sleep 0.3") + IDLE, around=AS_FIRST)
    init.number_in("orphan")
    first = wait_until(init.children, what="the first process")[0]
    agent = wait_until(lambda: agents_under(first), what="the agent")[0]
    agent.kill()
    wait_until(lambda: agents_under(first) not in ([], [agent]), what="the next agent")
    wait_until(lambda: first.children() == agents_under(first), what="the orphans to be reaped")
    first.send_signal(signal.SIGTERM)
    assert init.process.wait(20) == 143


def agents_under(first: psutil.Process) -> list[psutil.Process]:
    return [child for child in first.children() if is_agent(child)]


def is_agent(process: psutil.Process) -> bool:
    """It may end while it is looked at, as the orphan does."""
    try:
        return process.name() == "sleep" and "600" in process.cmdline()
    except psutil.Error:
        return False


def test_help_is_given_once(start_init: Start) -> None:
    init = start_init(INSTALLED, "--help")
    assert init.process.wait(20) == 0
    assert init.said.count("usage: regroup-agent") == 1


def test_an_image_without_the_agent_says_so(start_init: Start) -> None:
    init = start_init("")
    assert init.process.wait(20) == 127
    assert "regroup-agent cannot be started (No such file or directory)." in init.said


def test_a_grace_that_is_no_number_is_refused(start_init: Start) -> None:
    init = start_init(IDLE, REGROUP_STOP_GRACE_S="long")
    assert init.process.wait(20) == 2
    assert "REGROUP_STOP_GRACE_S is 'long'. Write how many seconds" in init.said


def test_it_can_be_run_as_a_command() -> None:
    file = Path(__file__).parents[2] / "docker" / "agent_init.py"
    assert os.access(file, os.X_OK)
    assert file.read_text().startswith("#!/usr/bin/env python3\n")

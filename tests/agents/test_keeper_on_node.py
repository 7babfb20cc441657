"""The node agent and its store keepers: one for each attempt, whoever is killed in between."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents import procs
from agents.bundle import Bundle, KeeperBundle, bundle_of
from agents.node.journal import NodeJournal
from agents.node.ledger import Ledger
from agents.node.spawn import start
from agents.node.store_socket import bind_store
from agents.node.trimming import Trimming
from agents.procs import ProcessRef
from agents.wire.codec import to_json
from agents.wire.commands import KillWorker, StartRunner, StopRunner
from tests.agents.node_harness import QUICK, Agent, Hub, Valkey, new_id, start_command
from tests.waiting import wait_until

STAND_IN_KEEPER = Path(__file__).with_name("stand_in_keeper.py")


def keeper_process(agent: Agent, attempt: str) -> ProcessRef:
    process = agent.keeper(attempt).process()
    assert process is not None
    return process


def require_gone(agent: Agent, attempt: str) -> None:
    wait_until(agent.keeper(attempt).is_settled, what="the keeper's bundle to be settled")
    assert procs.find_marked(agent.keeper(attempt).mark) == []


@pytest.fixture
def real(valkey: Valkey, start_agent: Callable[..., Agent]) -> Agent:
    """With real runners, keepers and torch."""
    return start_agent(valkey, entry=QUICK)


def start_real(agent: Agent, hub: Hub, folder: Path, script: str) -> str:
    (folder / "train.py").write_text(script)
    command = start_command(agent.name, script=str(folder / "train.py"), max_restarts=3)
    ended = hub.carry_out(command)
    assert ended["outcome"] == "done", ended
    return command.message.attempt


def test_a_killed_and_restarted_agent_finds_keeper_and_runner_and_nothing_restarts(
    valkey: Valkey, real: Agent, tmp_path: Path
) -> None:
    hub = Hub(valkey.redis, real.name)
    attempt = start_real(real, hub, tmp_path, "import time\ntime.sleep(600)\n")
    worker, keeper = hub.worker(attempt), keeper_process(real, attempt)
    real.kill()
    real.start()
    hub.wait_for("runner_adopted", attempt=attempt)
    assert procs.is_alive(keeper)
    assert procs.is_alive(worker)
    assert hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=10))["outcome"] == "done"
    finished = hub.wait_for("keeper_finished", attempt=attempt)
    assert (finished["outcome"], finished["inferred"]) == ("ended", False)
    assert len(hub.found("keeper_started", attempt=attempt)) == 1
    assert not hub.found("restart_begun", attempt=attempt)
    require_gone(real, attempt)


def test_a_killed_keeper_is_explained_and_ends_the_attempt(
    valkey: Valkey, real: Agent, tmp_path: Path
) -> None:
    hub = Hub(valkey.redis, real.name)
    attempt = start_real(real, hub, tmp_path, "import time\ntime.sleep(600)\n")
    hub.worker(attempt)
    procs.send_signal(keeper_process(real, attempt), signal.SIGKILL)
    finished = hub.wait_for("keeper_finished", attempt=attempt)
    assert (finished["outcome"], finished["inferred"]) == ("failed", True)
    assert finished["reason"] == f"The store keeper on {real.name} was killed (SIGKILL)."
    last = hub.wait_for("runner_finished", attempt=attempt)
    assert (last["outcome"], last["inferred"]) == ("failed", False)
    assert last["reason"].startswith(f"The store host {real.name} was lost"), last["reason"]
    assert procs.find_marked(real.bundle(attempt).mark) == []
    require_gone(real, attempt)
    hub.wait_free(2)


def test_a_job_that_ends_well_leaves_no_keeper(valkey: Valkey, real: Agent, tmp_path: Path) -> None:
    hub = Hub(valkey.redis, real.name)
    attempt = start_real(real, hub, tmp_path, "print('done')\n")
    assert hub.wait_for("runner_finished", attempt=attempt)["outcome"] == "succeeded"
    assert hub.wait_for("keeper_finished", attempt=attempt)["inferred"] is False
    require_gone(real, attempt)


def test_two_starts_of_an_attempt_at_once_make_one_keeper(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    twins = [replace(command, id=new_id()) for _ in range(4)]
    for twin in twins:
        hub.send(twin)
    ends = [hub.wait_for("command_ended", command=twin.id) for twin in twins]
    assert {end["outcome"] for end in ends} == {"done"}
    assert len({end["evidence"]["endpoint"] for end in ends}) == 1
    hub.worker(command.message.attempt)
    assert len(hub.found("keeper_started", attempt=command.message.attempt)) == 1


def test_it_occupies_no_slot_and_a_killed_runner_leaves_it_alone(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name, nproc_per_node=2)
    pid = hub.carry_out(command)["evidence"]["pid"]
    attempt = command.message.attempt
    hub.worker(attempt)
    hub.wait_free(0)
    os.kill(pid, signal.SIGKILL)
    settled = hub.wait_for("runner_settled", attempt=attempt)
    assert keeper_process(agent, attempt).pid not in settled["ended_pids"]
    # The stand-in goes by itself, once nobody is connected any more.
    assert hub.wait_for("keeper_finished", attempt=attempt)["inferred"] is False
    hub.wait_free(2)


def start_keeper(agent: Agent, command: StartRunner) -> KeeperBundle:
    """As a node agent does that is killed right after."""
    message, store = bind_store(command.message)
    bundle = agent.keeper(message.attempt)
    bundle.create(message)
    with store:
        assert start(bundle, message, sys.executable, STAND_IN_KEEPER, store=store).ref is not None
    return bundle


def test_a_keeper_started_by_an_agent_that_was_killed_then_is_used_by_the_next(
    agent: Agent, hub: Hub
) -> None:
    hub.wait_free(2)
    agent.kill()
    command = start_command(agent.name)
    Ledger(agent.data).begin(command.id, to_json(command))
    bundle = start_keeper(agent, command)
    (bundle.folder / "pid.json").unlink()
    agent.start()
    ended = hub.wait_for("command_ended", command=command.id)
    message = bundle.message()
    assert message is not None
    assert ended["evidence"]["endpoint"] == message.endpoint
    hub.worker(command.message.attempt)
    assert len(hub.found("keeper_started", attempt=command.message.attempt)) == 1
    assert bundle.process() is not None


def test_a_keeper_that_was_not_started_yet_gets_a_port_anew(agent: Agent, hub: Hub) -> None:
    hub.wait_free(2)
    agent.kill()
    command = start_command(agent.name)
    Ledger(agent.data).begin(command.id, to_json(command))
    agent.keeper(command.message.attempt).create(replace(command.message, endpoint="127.0.0.1:1"))
    agent.start()
    ended = hub.wait_for("command_ended", command=command.id)
    assert ended["outcome"] == "done", ended
    assert ended["evidence"]["endpoint"] == hub.wait_for("keeper_started")["endpoint"] != "127.0.0.1:1"


def test_a_keeper_whose_attempt_is_not_started_any_more_is_ended(agent: Agent, hub: Hub) -> None:
    hub.wait_free(2)
    agent.kill()
    command = start_command(agent.name)
    start_keeper(agent, command)
    agent.start()
    hub.wait_for("keeper_finished", attempt=command.message.attempt, outcome="stopped")
    require_gone(agent, command.message.attempt)


def test_a_keeper_that_has_gone_is_not_started_again_for_its_attempt(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    bundle = agent.keeper(command.message.attempt)
    bundle.create(command.message)
    bundle.write_settled(last_seq=0)
    ended = hub.carry_out(command)
    assert ended["outcome"] == "refused"
    assert "only a new attempt gets a new one" in ended["reason"]
    assert not agent.bundle(command.message.attempt).folder.exists()


def test_it_is_no_worker_that_could_be_killed_by_hand(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    hub.carry_out(command)
    keeper = keeper_process(agent, command.message.attempt)
    kill = KillWorker(
        id=new_id(),
        attempt=command.message.attempt,
        round=1,
        rank=0,
        pid=keeper.pid,
        start_time=keeper.start_time,
    )
    ended = hub.carry_out(kill)
    assert ended["outcome"] == "refused"
    assert "is not a worker of attempt" in ended["reason"]
    assert procs.is_alive(keeper)


def test_a_runners_bundle_stays_as_long_as_its_keeper_runs(tmp_path: Path) -> None:
    """By it the node agent knows that the keeper is needed, however long the other nodes train on."""
    message = start_command("node-a").message
    runner, keeper = (
        bundle_of(Bundle, tmp_path, message.attempt),
        bundle_of(KeeperBundle, tmp_path, message.attempt),
    )
    for bundle in (runner, keeper):
        bundle.create(message)
    runner.write_settled(last_seq=0)
    trimming = Trimming(tmp_path, 0.0, NodeJournal(tmp_path, "node-a"), Ledger(tmp_path))
    trimming.prune_bundles()
    assert runner.folder.exists()
    keeper.write_settled(last_seq=0)
    trimming.prune_bundles()
    assert not runner.folder.exists()
    assert not keeper.folder.exists()


def test_without_a_host_among_the_nodes_there_is_no_keeper(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name, rdzv_conf={"is_host": "false"})
    assert hub.carry_out(command)["outcome"] == "done"
    hub.worker(command.message.attempt)
    assert not agent.keeper(command.message.attempt).folder.exists()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_keeper_of_an_attempt_that_is_over_makes_way_for_the_next_at_its_endpoint(
    agent: Agent, hub: Hub
) -> None:
    """It would wait for two minutes: the other node might come back."""
    commands = [start_command(agent.name, *args) for args in (["die"], [])]
    port, nodes = free_port(), (agent.name, "node-b")
    earlier, later = [
        replace(one, message=replace(one.message, endpoint=f"127.0.0.1:{port}", nodes=nodes))
        for one in commands
    ]
    hub.carry_out(earlier)
    hub.wait_for("runner_settled", attempt=earlier.message.attempt)
    assert procs.is_alive(keeper_process(agent, earlier.message.attempt))
    ended = hub.carry_out(later)
    assert ended["outcome"] == "done", ended
    assert ended["evidence"]["endpoint"] == f"127.0.0.1:{port}"
    hub.worker(later.message.attempt)
    hub.wait_for("keeper_finished", attempt=earlier.message.attempt, outcome="stopped")


def test_the_keeper_of_a_runner_that_could_not_be_started_goes(agent: Agent, hub: Hub) -> None:
    hub.wait_free(2)
    command = start_command(agent.name)
    folder = agent.bundle(command.message.attempt).folder
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("in the way")
    assert hub.carry_out(command)["outcome"] == "failed"
    hub.wait_for("keeper_finished", attempt=command.message.attempt, outcome="stopped")
    require_gone(agent, command.message.attempt)


def test_the_keeper_of_a_killed_runner_waits_for_the_next_one_until_the_attempt_is_stopped(
    valkey: Valkey, real: Agent, tmp_path: Path
) -> None:
    hub = Hub(valkey.redis, real.name)
    attempt = start_real(real, hub, tmp_path, "import time\ntime.sleep(600)\n")
    hub.worker(attempt)
    runner = real.bundle(attempt).process()
    assert runner is not None
    procs.send_signal(runner, signal.SIGKILL)
    hub.wait_for("runner_settled", attempt=attempt)
    assert real.keeper(attempt).stopping() is None
    assert procs.is_alive(keeper_process(real, attempt))
    ended = hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=10))
    assert ended["reason"].endswith("Its store keeper ends once no other node needs it.")
    finished = hub.wait_for("keeper_finished", attempt=attempt)
    assert (finished["outcome"], finished["inferred"]) == ("ended", False)
    assert finished["reason"] == "the attempt is over, and no runner is left"
    require_gone(real, attempt)

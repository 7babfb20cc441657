"""A runner or a node agent is killed, or a node cut off from the hub: told by what was seen afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from agents import procs
from agents.wire.commands import CutNode, KillAgent, KillRunner, StopFaults
from tests.agents.node_harness import Agent, Hub, Valkey, incarnate, new_id, start_command
from tests.waiting import wait_until


def is_silent(hub: Hub) -> bool:
    return hub.lease() == {}


def connections_of(valkey: Valkey) -> int:
    """Of everybody but the test itself."""
    return len(valkey.redis.client_list()) - 1


@pytest.fixture
def only_agent(own_valkey: Valkey, start_agent: Callable[..., Agent]) -> Agent:
    return start_agent(own_valkey)


@pytest.fixture
def only_hub(own_valkey: Valkey, only_agent: Agent) -> Hub:
    return Hub(own_valkey.redis, only_agent.name)


def test_a_killed_runner_is_gone_with_its_workers_and_no_later_one_is_hit(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    # Another node keeps the store, which outlives this one's runner.
    message = replace(
        command.message, hosts_store=False, endpoint="127.0.0.1:1", nodes=(agent.name, "another-node")
    )
    command = replace(command, message=message)
    hub.carry_out(command)
    attempt = command.message.attempt
    worker, runner = hub.worker(attempt), agent.bundle(attempt).process()
    assert runner is not None
    ended = hub.carry_out(KillRunner(id=new_id(), attempt=attempt, incarnation=1))
    assert ended["outcome"] == "done", ended
    assert ended["evidence"]["pid"] == runner.pid
    assert not procs.is_alive(runner)
    assert not procs.is_alive(worker)
    hub.wait_for("runner_settled", attempt=attempt)

    started = hub.carry_out(incarnate(command, 2))
    assert started["outcome"] == "done", started
    late = hub.carry_out(KillRunner(id=new_id(), attempt=attempt, incarnation=1))
    assert late["outcome"] == "refused"
    assert "does not run on" in late["reason"]
    again = agent.bundle(attempt, 2).process()
    assert again is not None
    assert procs.is_alive(again)


def test_a_killed_agent_is_told_of_by_the_next_which_has_adopted_what_runs(agent: Agent, hub: Hub) -> None:
    start = start_command(agent.name)
    hub.carry_out(start)
    worker, killed = hub.worker(start.message.attempt), agent.process.pid
    command = KillAgent(id=new_id())
    hub.send(command)

    def is_dead() -> bool:
        hub.pump()
        return agent.process.poll() is not None

    wait_until(is_dead, what="the node agent to die")
    assert agent.process.returncode == -9
    assert hub.found("fault_begun", command=command.id)
    assert not hub.found("command_ended", command=command.id)
    agent.start()
    ended = hub.wait_for("command_ended", command=command.id)
    assert ended["outcome"] == "done", ended
    assert (ended["evidence"]["killed_pid"], ended["evidence"]["pid"]) == (killed, agent.process.pid)
    assert (ended["evidence"]["adopted"], ended["evidence"]["back_after_s"] > 0) == (1, True)
    assert procs.is_alive(worker)
    # It is carried out once, also where the command comes again.
    hub.send(command)
    assert hub.carry_out(StopFaults(id=new_id()))["outcome"] == "done"
    assert agent.process.poll() is None


def test_a_node_that_is_cut_off_has_no_connection_and_comes_back_by_itself(
    own_valkey: Valkey, only_agent: Agent, only_hub: Hub
) -> None:
    start = start_command(only_agent.name)
    only_hub.carry_out(start)
    worker = only_hub.worker(start.message.attempt)
    command = CutNode(id=new_id(), seconds=4.0)
    only_hub.send(command)
    only_hub.wait_for("fault_begun", command=command.id)
    wait_until(lambda: connections_of(own_valkey) == 0, what="all connections of the agent to be closed")
    assert only_agent.process.poll() is None
    assert procs.is_alive(worker)
    ended = only_hub.wait_for("command_ended", command=command.id)
    assert ended["outcome"] == "done", ended
    assert ended["evidence"]["healed_at"] - ended["evidence"]["cut_at"] == pytest.approx(4.0, abs=0.5)
    wait_until(lambda: not is_silent(only_hub), what="a sign of life")
    assert only_hub.lease()["troubles"] == []


def test_a_cut_is_seen_out_by_the_next_node_agent(
    own_valkey: Valkey, only_agent: Agent, only_hub: Hub
) -> None:
    wait_until(lambda: not is_silent(only_hub), what="a sign of life")
    command = CutNode(id=new_id(), seconds=6.0)
    only_hub.send(command)
    only_hub.wait_for("fault_begun", command=command.id)
    wait_until(lambda: connections_of(own_valkey) == 0, what="all connections of the agent to be closed")
    only_agent.kill()
    only_agent.start()
    ended = only_hub.wait_for("command_ended", command=command.id)
    assert ended["outcome"] == "done", ended
    assert ended["evidence"]["healed_at"] - ended["evidence"]["cut_at"] == pytest.approx(6.0, abs=0.5)
    wait_until(lambda: len(only_hub.found("node_started")) == 2, what="both node agents to tell their start")

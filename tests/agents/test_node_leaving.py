"""A node that leaves an attempt: politely, then by force, and never as if the attempt were stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agents import procs
from agents.wire.commands import LeaveRunner, StartRunner, StopRunner
from tests.agents.node_harness import QUICK, Agent, Hub, Valkey, incarnate, new_id, start_command
from tests.waiting import wait_until


def start(agent: Agent, hub: Hub, *args: str) -> str:
    """A job of two nodes, whose store is kept here."""
    command = start_command(agent.name, *args)
    nodes = (agent.name, "another-node")
    command = replace(command, message=replace(command.message, nodes=nodes, max_nodes=2))
    assert hub.carry_out(command)["outcome"] == "done"
    hub.worker(command.message.attempt)
    return command.message.attempt


def leave(attempt: str, grace_s: float = 20) -> LeaveRunner:
    return LeaveRunner(id=new_id(), attempt=attempt, grace_s=grace_s, by="anna", why="scaled down")


def stop(attempt: str, grace_s: float = 20) -> StopRunner:
    return StopRunner(id=new_id(), attempt=attempt, grace_s=grace_s)


def test_a_leave_is_done_when_nothing_is_left_and_the_runner_knew_what_was_meant(
    agent: Agent, hub: Hub
) -> None:
    attempt = start(agent, hub)
    command = leave(attempt)
    ended = hub.carry_out(command)
    assert ended["outcome"] == "done"
    assert ended["reason"] == f"The runner on {agent.name} ended after SIGTERM; nothing of it is left."
    assert ended["evidence"]["gone_after_s"] >= 0
    assert procs.find_marked(agent.bundle(attempt).mark) == []
    finished = hub.wait_for("runner_finished", attempt=attempt)
    assert (finished["outcome"], finished["has_left"], finished["inferred"]) == ("stopped", True, False)
    assert agent.bundle(attempt).stopping() == {
        "command": command.id,
        "by": "anna",
        "why": "scaled down",
        "leave": True,
    }
    hub.wait_free(2)


def test_a_leave_that_is_not_heard_ends_in_sigkill_and_is_a_leave_all_the_same(
    agent: Agent, hub: Hub
) -> None:
    attempt = start(agent, hub, "deaf")
    ended = hub.carry_out(leave(attempt, grace_s=0))
    assert ended["outcome"] == "done"
    assert "had to be killed (SIGKILL)" in ended["reason"]
    assert len(ended["evidence"]["ended_pids"].split()) == 2
    finished = hub.wait_for("runner_finished", attempt=attempt)
    assert (finished["outcome"], finished["has_left"], finished["inferred"]) == ("stopped", True, True)
    assert finished["reason"] == (
        f"The runner on {agent.name} was asked to leave; it ended before it could say so itself."
    )


def test_a_runner_that_died_has_not_left(agent: Agent, hub: Hub) -> None:
    attempt = start(agent, hub)
    runner = agent.bundle(attempt).process()
    assert runner is not None
    os.kill(runner.pid, signal.SIGKILL)
    finished = hub.wait_for("runner_finished", attempt=attempt)
    assert (finished["outcome"], finished["has_left"], finished["inferred"]) == ("failed", False, True)


def test_a_leave_of_what_does_not_run_changes_nothing(agent: Agent, hub: Hub) -> None:
    ended = hub.carry_out(leave("never-heard-of"))
    assert (ended["outcome"], ended["reason"]) == ("done", f"Nothing of that attempt runs on {agent.name}.")


def test_a_runner_that_stands_still_leaves_in_its_own_words(agent: Agent, hub: Hub) -> None:
    attempt = start(agent, hub)
    runner = agent.bundle(attempt).process()
    assert runner is not None
    os.kill(runner.pid, signal.SIGSTOP)
    wait_until(lambda: procs.state_of(runner.pid) == "T", what="the runner to stand still")
    ended = hub.carry_out(leave(attempt, grace_s=600))
    assert "ended after SIGTERM" in ended["reason"]
    assert hub.wait_for("runner_finished", attempt=attempt)["inferred"] is False


def test_a_stop_turns_a_leave_into_a_stop(agent: Agent, hub: Hub) -> None:
    attempt = start(agent, hub, "deaf")
    going = leave(attempt, grace_s=600)
    hub.send(going)
    wait_until(agent.bundle(attempt).is_leaving, what="the leave to begin")
    ended = hub.carry_out(stop(attempt, grace_s=0))
    assert ended["outcome"] == "done"
    assert not agent.bundle(attempt).is_leaving()
    finished = hub.wait_for("runner_finished", attempt=attempt)
    assert (finished["outcome"], finished["has_left"]) == ("stopped", False)
    left = hub.wait_for("command_ended", command=going.id)
    assert left["outcome"] == "done"
    assert "had to be killed (SIGKILL)" in left["reason"]


def test_a_leave_changes_no_stop(agent: Agent, hub: Hub) -> None:
    attempt = start(agent, hub, "deaf")
    going = stop(attempt, grace_s=600)
    hub.send(going)
    wait_until(agent.bundle(attempt).stopping, what="the stop to begin")
    assert hub.carry_out(leave(attempt, grace_s=0))["outcome"] == "done"
    finished = hub.wait_for("runner_finished", attempt=attempt)
    assert (finished["outcome"], finished["has_left"]) == ("stopped", False)
    assert hub.wait_for("command_ended", command=going.id)["outcome"] == "done"


def test_an_agent_killed_in_the_middle_of_a_leave_finishes_it_when_it_is_back(agent: Agent, hub: Hub) -> None:
    attempt = start(agent, hub, "deaf")
    going = leave(attempt, grace_s=600)
    hub.send(going)
    wait_until(agent.bundle(attempt).is_leaving, what="the leave to begin")
    agent.kill()
    agent.start()
    runner = agent.bundle(attempt).process()
    hub.wait_for("runner_adopted", attempt=attempt)
    assert runner is not None
    os.kill(runner.pid, signal.SIGKILL)
    ended = hub.wait_for("command_ended", command=going.id)
    assert ended["outcome"] == "done"
    assert len(hub.found("command_received", command=going.id)) == 1
    assert hub.wait_for("runner_finished", attempt=attempt)["has_left"] is True


def test_the_store_keeper_hears_of_a_stop_and_not_of_a_leave(agent: Agent, hub: Hub) -> None:
    staying, stopping = start(agent, hub), start(agent, hub)
    assert hub.carry_out(leave(staying))["outcome"] == "done"
    assert hub.carry_out(stop(stopping))["outcome"] == "done"
    hub.wait_for("runner_settled", attempt=staying)
    assert agent.keeper(staying).stopping() is None
    assert agent.keeper(stopping).stopping() is not None


def pair(one: Agent, other: Agent, script: Path) -> tuple[StartRunner, StartRunner]:
    """The starts of a job on two nodes that may go on with one; the first node keeps the store."""
    command = start_command(one.name, script=str(script), nnodes="1:2")
    nodes = (one.name, other.name)
    first = replace(command, message=replace(command.message, nodes=nodes, max_nodes=2))
    away = replace(first.message, node=other.name, hosts_store=False)
    return first, replace(first, id=new_id(), message=away)


def test_the_store_hosts_runner_leaves_and_comes_back_while_the_other_node_goes_on(
    valkey: Valkey, start_agent: Callable[..., Agent], tmp_path: Path
) -> None:
    one, other = (start_agent(valkey, entry=QUICK) for _ in range(2))
    here, there = Hub(valkey.redis, one.name), Hub(valkey.redis, other.name)
    script = tmp_path / "train.py"
    script.write_text("import time\ntime.sleep(600)\n")
    first, second = pair(one, other, script)
    attempt = first.message.attempt
    endpoint = here.carry_out(first)["evidence"]["endpoint"]
    there.carry_out(replace(second, message=replace(second.message, endpoint=endpoint)))
    assert there.worker(attempt)
    assert there.wait_for("rendezvous_completed", attempt=attempt, round=1)["world_size"] == 2

    assert here.carry_out(leave(attempt))["outcome"] == "done"
    finished = here.wait_for("runner_finished", attempt=attempt)
    assert (finished["outcome"], finished["has_left"]) == ("stopped", True)
    alone = there.wait_for("rendezvous_completed", attempt=attempt, round=2)
    assert (alone["nodes"], alone["cause"], alone["charged"]) == ([other.name], "membership", None)
    assert there.worker(attempt, 2)
    keeper = one.keeper(attempt).process()
    assert keeper is not None
    assert procs.is_alive(keeper)

    back = incarnate(first, 2, endpoint=endpoint)
    assert here.carry_out(back)["evidence"]["endpoint"] == endpoint
    both = there.wait_for("rendezvous_completed", attempt=attempt, round=3)
    assert (both["nodes"], both["cause"], both["charged"]) == (
        sorted([one.name, other.name]),
        "membership",
        None,
    )
    for hub in (here, there):
        assert hub.carry_out(stop(attempt, grace_s=10))["outcome"] == "done"
    assert here.wait_for("keeper_finished", attempt=attempt)["outcome"] == "ended"

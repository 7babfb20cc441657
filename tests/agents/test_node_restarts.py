"""The agent and Redis may be lost at any time: no record is missing or doubled, no runner started twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from agents import procs
from agents.node import shipper
from agents.node.ledger import Ledger
from agents.wire import streams
from agents.wire.codec import to_json
from tests.agents.node_harness import Agent, Hub, Valkey, start_command
from tests.waiting import wait_until

PROGRESS = 3000
"""More than the window, so that the agent is killed in the middle of shipping."""


def test_the_next_agent_adopts_the_runner_and_ships_on_without_gap_or_double(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name, "progress", str(PROGRESS))
    hub.send(command)
    attempt = command.message.attempt
    wait_until(lambda: hub.found("progress") or None, what="the first progress")
    agent.kill()
    worker = hub.worker(attempt)
    agent.start()
    adopted = hub.wait_for("runner_adopted", attempt=attempt)
    runner = agent.bundle(attempt).process()
    assert runner is not None
    assert adopted["pid"] == runner.pid
    wait_until(lambda: len(hub.found("progress", attempt=attempt)) == PROGRESS, what="all progress")
    steps = [record["ranks"][0]["step"] for record in hub.found("progress", attempt=attempt)]
    assert steps == list(range(PROGRESS))
    assert procs.is_alive(worker)
    assert len(hub.found("runner_started", attempt=attempt)) == 1
    hub.wait_free(1)


def test_a_runner_that_went_while_no_agent_was_there_is_settled_as_unknown(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    pid = hub.carry_out(command)["evidence"]["pid"]
    agent.kill()
    os.kill(pid, signal.SIGKILL)
    agent.start()
    finished = hub.wait_for("runner_finished", attempt=command.message.attempt)
    assert (finished["outcome"], finished["inferred"]) == ("unknown", True)
    assert "exit status not known" in finished["reason"]
    assert procs.find_marked(agent.bundle(command.message.attempt).mark) == []
    hub.wait_free(2)


def test_a_runner_whose_pid_was_not_noted_is_found_by_its_mark(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    pid = hub.carry_out(command)["evidence"]["pid"]
    agent.kill()
    (agent.bundle(command.message.attempt).folder / "pid.json").unlink()
    agent.start()
    assert hub.wait_for("runner_adopted", attempt=command.message.attempt)["pid"] == pid


def test_a_start_begun_by_an_agent_that_was_killed_is_carried_out_by_the_next(agent: Agent, hub: Hub) -> None:
    hub.wait_free(2)
    agent.kill()
    command = start_command(agent.name)
    Ledger(agent.data).begin(command.id, to_json(command))
    agent.bundle(command.message.attempt).create(command.message)
    agent.start()
    ended = hub.wait_for("command_ended", command=command.id)
    assert ended["outcome"] == "done", ended
    hub.worker(command.message.attempt)


def test_a_bundle_that_nobody_asks_to_start_any_more_is_settled(agent: Agent, hub: Hub) -> None:
    hub.wait_free(2)
    agent.kill()
    command = start_command(agent.name)
    agent.bundle(command.message.attempt).create(command.message)
    agent.start()
    finished = hub.wait_for("runner_finished", attempt=command.message.attempt)
    assert "was never started" in finished["reason"]
    hub.wait_free(2)


def test_after_redis_was_emptied_everything_unacknowledged_is_sent_again(
    own_valkey: Valkey, start_agent: Callable[..., Agent]
) -> None:
    agent = start_agent(own_valkey)
    hub = Hub(own_valkey.redis, agent.name)
    command = start_command(agent.name, "progress", "100")
    hub.send(command)
    stream = streams.events(agent.name)
    wait_until(lambda: own_valkey.redis.xlen(stream) > 100, what="records to be shipped")
    own_valkey.redis.flushall()
    wait_until(lambda: len(hub.found("progress")) == 100, what="all progress, again")
    assert hub.wait_for("command_ended", command=command.id)["outcome"] == "done"
    hub.wait_free(1)


def test_no_more_than_the_window_waits_in_redis(
    own_valkey: Valkey, start_agent: Callable[..., Agent]
) -> None:
    agent = start_agent(own_valkey)
    hub = Hub(own_valkey.redis, agent.name)
    hub.send(start_command(agent.name, "progress", str(PROGRESS)))
    stream = streams.events(agent.name)
    wait_until(lambda: own_valkey.redis.xlen(stream) >= shipper.WINDOW, what="a full window")
    hub.pump(acknowledge=False)
    assert own_valkey.redis.xlen(stream) == shipper.WINDOW
    wait_until(lambda: len(hub.found("progress")) == PROGRESS, what="the rest after acknowledgement")


def test_a_line_that_cannot_be_read_is_shipped_under_its_place(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    hub.carry_out(command)
    bundle = agent.bundle(command.message.attempt)
    hub.worker(command.message.attempt)
    with bundle.journal.open("ab") as file:
        file.write(b"\xff\r not a record\n")
    wait_until(lambda: hub.found("x") or hub.unreadable, what="the unreadable line")
    assert hub.last[bundle.source()] == 3


def test_what_is_acknowledged_is_not_sent_again(agent: Agent, hub: Hub, valkey: Valkey) -> None:
    command = start_command(agent.name)
    hub.carry_out(command)
    hub.worker(command.message.attempt)
    agent.stop()
    agent.start()
    hub.wait_for("runner_adopted", attempt=command.message.attempt)
    wait_until(lambda: len(hub.found("node_started")) == 2, what="the second start")
    assert valkey.redis.xlen(streams.events(agent.name)) == 0

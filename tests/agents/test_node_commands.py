"""Each command is carried out once, in time, and ends in words with evidence."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents import procs
from agents.wire import streams
from agents.wire.codec import to_json
from agents.wire.commands import StopRunner
from tests.agents.node_harness import Agent, Hub, Valkey, new_id, start_command
from tests.waiting import wait_until


def test_a_start_is_done_with_pid_start_time_and_the_stores_real_endpoint(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    ended = hub.carry_out(command)
    assert ended["outcome"] == "done", ended
    evidence = ended["evidence"]
    assert procs.is_alive(procs.ProcessRef(evidence["pid"], evidence["start_time"], procs.boot_id()))
    assert hub.wait_for("keeper_started")["endpoint"] == evidence["endpoint"]
    assert hub.wait_for("runner_started")["endpoint"] == evidence["endpoint"]
    hub.wait_free(1)
    assert hub.lease()["attempts"] == [command.message.attempt]


def test_the_same_command_twice_in_the_stream_is_carried_out_once(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    hub.send(command)
    hub.send(command)
    marker = start_command(agent.name)
    hub.carry_out(marker)
    # Each command is carried out by itself, so that the later one may end first.
    wait_until(lambda: hub.found("command_ended", command=command.id), what="the first to end")
    assert len(hub.found("command_received", command=command.id)) == 1
    assert len(hub.found("command_ended", command=command.id)) == 1


def test_a_second_start_of_an_attempt_finds_its_runner(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    first = hub.carry_out(command)["evidence"]
    second = hub.carry_out(replace(command, id=new_id()))["evidence"]
    assert first == second


def test_a_command_later_than_its_deadline_is_refused(valkey: Valkey, agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name, deadline_s=5)
    seconds = int(valkey.redis.time()[0])
    hub.send_raw(to_json(command), entry_id=f"{(seconds - 60) * 1000}-1")
    ended = hub.wait_for("command_ended", command=command.id)
    assert ended["outcome"] == "refused"
    assert "after it was sent, later than its deadline of 5 s" in ended["reason"]
    assert not agent.bundle(command.message.attempt).folder.exists()


@pytest.mark.parametrize("body", ['{"kind":"dance","id":"%s"}', '{"kind":"kill_worker","id":"%s","pid":"x"}'])
def test_a_command_that_is_not_understood_is_refused(body: str, hub: Hub) -> None:
    command_id = new_id()
    hub.send_raw("no JSON at all")
    hub.send_raw(body % command_id)
    ended = hub.wait_for("command_ended", command=command_id)
    assert ended["outcome"] == "refused"
    assert "does not understand" in ended["reason"]


def test_a_start_without_a_free_slot_is_refused(agent: Agent, hub: Hub) -> None:
    ended = hub.carry_out(start_command(agent.name, nproc_per_node=3))
    assert ended["outcome"] == "refused"
    assert "2 of 2 slots free, and the job needs 3" in ended["reason"]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"python": "/x/python"}, "The interpreter '/x/python' does not exist on "),
        ({"python": "/etc/passwd"}, "The interpreter '/etc/passwd' on "),
        ({"script": "/x/train.py"}, "The script '/x/train.py' does not exist on "),
        ({"workdir": "/x/folder"}, "The working directory '/x/folder' does not exist on "),
    ],
)
def test_a_start_that_lacks_something_here_is_refused(
    spec: dict[str, Any], sentence: str, agent: Agent, hub: Hub
) -> None:
    command = start_command(agent.name, **spec)
    ended = hub.carry_out(command)
    assert ended["outcome"] == "refused"
    assert ended["reason"].startswith(sentence)
    assert agent.name in ended["reason"]
    assert not agent.bundle(command.message.attempt).folder.exists()


def test_an_interpreter_without_torch_is_refused(agent: Agent, hub: Hub, tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\nexit 3\n")
    bare.chmod(0o755)
    ended = hub.carry_out(start_command(agent.name, python=str(bare)))
    assert ended["outcome"] == "refused"
    assert "has no torch" in ended["reason"]


def test_an_agent_killed_in_the_middle_of_a_stop_finishes_it_when_it_is_back(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name, "deaf")
    runner = hub.carry_out(command)["evidence"]
    hub.worker(command.message.attempt)
    stop = StopRunner(id=new_id(), attempt=command.message.attempt, grace_s=600)
    hub.send(stop)
    wait_until(lambda: agent.bundle(stop.attempt).stopping(), what="the stop to begin")
    agent.kill()
    os.kill(runner["pid"], signal.SIGKILL)
    agent.start()
    ended = hub.wait_for("command_ended", command=stop.id)
    assert ended["outcome"] == "done"
    assert len(hub.found("command_received", command=stop.id)) == 1
    assert hub.wait_for("runner_finished")["outcome"] == "stopped"


def test_an_end_that_was_not_recorded_is_recorded_by_the_next_agent(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    hub.carry_out(command)
    agent.kill()
    journal = agent.data / "node.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    cut = next(i for i, line in enumerate(lines) if "command_ended" in line and command.id in line)
    journal.write_text("".join(lines[:cut]))
    agent.start()
    wait_until(lambda: command.id in journal.read_text().split("command_ended")[-1], what="the end again")
    assert hub.worker(command.message.attempt)


def test_a_command_already_ended_is_not_begun_again_after_a_restart(
    valkey: Valkey, agent: Agent, hub: Hub
) -> None:
    command = start_command(agent.name)
    hub.carry_out(command)
    agent.kill()
    agent.start()
    hub.wait_for("runner_adopted", attempt=command.message.attempt)
    hub.carry_out(start_command(agent.name))
    assert valkey.redis.xlen(streams.commands(agent.name)) == 2
    assert len(hub.found("command_ended", command=command.id)) == 1
    assert len(hub.found("runner_started", attempt=command.message.attempt)) == 1


def test_the_ledger_keeps_no_environment_of_a_command_that_has_ended(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name, env={"API_TOKEN": "s3cr3t-of-the-job"})
    assert hub.carry_out(command)["outcome"] == "done"
    hub.worker(command.message.attempt)
    pages = [path.read_text() for path in (agent.data / "commands").glob("*.json")]
    assert any(command.id in page for page in pages)
    assert not any("s3cr3t-of-the-job" in page for page in pages)
    assert "s3cr3t-of-the-job" not in (agent.data / "node.jsonl").read_text()
    assert "s3cr3t-of-the-job" not in agent.bundle(command.message.attempt).journal.read_text()

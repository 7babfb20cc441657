"""A node that joins: what it says of itself, and who is turned away."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from agents import procs
from agents.wire import streams
from agents.wire.commands import StopRunner
from tests.agents.node_harness import ROOT, STAND_IN, Agent, Hub, Valkey, new_id, start_command
from tests.waiting import wait_until


def test_a_new_node_is_listed_holds_a_lease_and_tells_its_facts(
    valkey: Valkey, agent: Agent, hub: Hub
) -> None:
    facts = hub.wait_for("node_started")["facts"]
    assert facts["slots"] == 2
    assert facts["cpus"] >= 1
    assert facts["memory_bytes"] > 1 << 28
    assert facts["addresses"][0] == "127.0.0.1"
    assert facts["python"] == sys.executable
    assert facts["torch_version"]
    assert facts["boot_id"] == procs.boot_id()
    assert facts["gpus"] or facts["gpu_note"]
    assert valkey.redis.sismember(streams.NODES, agent.name)
    lease = hub.lease()
    assert (lease["node"], lease["pid"], lease["slots"], lease["free"]) == (
        agent.name,
        agent.process.pid,
        2,
        2,
    )
    assert 0 < valkey.redis.ttl(streams.lease(agent.name)) <= streams.LEASE_S


def test_a_second_agent_on_the_same_data_folder_is_told_who_holds_it(agent: Agent, hub: Hub) -> None:
    hub.wait_free(2)
    command = [sys.executable, str(STAND_IN), "--redis-url", "redis://127.0.0.1:1", "--name", "other"]
    command += ["--data", str(agent.data), "--slots", "1"]
    second = subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=ROOT, check=False)
    assert second.returncode == 1
    assert f"node {agent.name}, pid {agent.process.pid}" in second.stderr
    assert "Traceback" not in second.stderr


def test_sigterm_ends_the_daemon_says_so_and_leaves_its_runners(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name)
    evidence = hub.carry_out(command)["evidence"]
    assert agent.stop() == 0
    hub.wait_for("node_stopping")
    assert procs.is_alive(procs.ProcessRef(evidence["pid"], evidence["start_time"], procs.boot_id()))


def test_without_redis_runners_go_on_and_the_outage_is_said_once(
    own_valkey: Valkey, start_agent: Callable[..., Agent]
) -> None:
    agent = start_agent(own_valkey)
    hub = Hub(own_valkey.redis, agent.name)
    command = start_command(agent.name)
    hub.carry_out(command)
    worker = hub.worker(command.message.attempt)
    own_valkey.kill()
    wait_until(lambda: "redis cannot be used" in agent.log.read_text(), what="the outage to be said")
    assert agent.process.poll() is None
    assert procs.is_alive(worker)
    own_valkey.start()
    hub.wait_free(1)
    said = agent.log.read_text()
    assert said.count("redis cannot be used") == 1
    assert "redis is back" in said


def test_a_runner_inherits_no_redis_password_and_carries_its_mark(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name, env={"COLOUR": "green", "REGROUP_BUNDLE": "forged"})
    pid = hub.carry_out(command)["evidence"]["pid"]
    environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    assert b"COLOUR=green" in environ
    assert procs.carries_mark(pid, agent.bundle(command.message.attempt).mark)
    assert not [entry for entry in environ if entry.startswith(b"REGROUP_REDIS_URL")]
    assert os.getsid(pid) == pid


def test_each_sign_of_life_tells_how_far_the_nodes_journal_goes(agent: Agent, hub: Hub) -> None:
    hub.carry_out(StopRunner(id=new_id(), attempt="never-heard-of"))
    hub.wait_for("node_started")
    source = hub.lease()["journal"]
    wait_until(
        lambda: hub.lease()["seq"] == hub.last[source] >= 3, what="the lease to tell of the newest record"
    )

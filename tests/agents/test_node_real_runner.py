"""The node agent with the real runner and real torch workers, from the installed console script."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from agents import procs
from agents.wire.commands import KillWorker, StopRunner
from tests.agents.node_harness import Agent, Hub, Valkey, new_id, start_command


def test_a_killed_worker_comes_back_and_a_stop_leaves_nothing(
    valkey: Valkey, start_agent: Callable[..., Agent], tmp_path: Path
) -> None:
    agent = start_agent(valkey, entry=Path(sys.executable).with_name("regroup-agent"))
    hub = Hub(valkey.redis, agent.name)
    script = tmp_path / "train.py"
    script.write_text("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    command = start_command(agent.name, script=str(script), nproc_per_node=2, max_restarts=3)
    assert hub.carry_out(command)["outcome"] == "done"
    attempt = command.message.attempt
    workers = hub.wait_for("workers_started", attempt=attempt, round=1)["workers"]
    victim = next(worker for worker in workers if worker["rank"] == 1)
    kill = KillWorker(
        id=new_id(), attempt=attempt, round=1, rank=1, pid=victim["pid"], start_time=victim["start_time"]
    )
    assert hub.carry_out(kill)["outcome"] == "done"
    hub.wait_for("restart_begun", attempt=attempt, cause="failure")
    hub.wait_for("workers_started", attempt=attempt, round=2)
    assert hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=10))["outcome"] == "done"
    finished = hub.wait_for("runner_finished", attempt=attempt)
    assert (finished["outcome"], finished["inferred"]) == ("stopped", False)
    assert procs.find_marked(agent.bundle(attempt).mark) == []
    hub.wait_free(2)

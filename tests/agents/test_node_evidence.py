"""What a node keeps of a round that failed, and the job's own commands, with real runners and workers."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents import procs
from agents.wire.codec import read_answer_as, to_json
from agents.wire.commands import EvidenceSlice, EvidenceSliceAnswer, StartRunner, StopRunner
from agents.wire.masking import MASK
from agents.wire.streams import answer, requests
from tests.agents.node_harness import Agent, Hub, Valkey, new_id, start_command
from tests.waiting import wait_until

SECRET = "hunter2-hunter2"
SCRIPT = """
import os, pathlib, sys, time
import regroup_report
def wait_for_the_others():
    while True:
        time.sleep(0.05)
print("my token is", os.environ["API_TOKEN"], flush=True)
regroup_report.step(1)
if os.environ["RANK"] == "1" and os.environ["REGROUP_ROUND"] == "1":
    go = pathlib.Path(sys.argv[1])
    while not go.exists():
        time.sleep(0.02)
    raise ValueError("the loss is not a number")
wait_for_the_others()
"""


@pytest.fixture
def agent(valkey: Valkey, start_agent: Callable[..., Agent]) -> Agent:
    return start_agent(valkey, entry=Path(sys.executable).with_name("regroup-agent"))


@pytest.fixture
def hub(valkey: Valkey, agent: Agent) -> Hub:
    return Hub(valkey.redis, agent.name)


def launch(folder: Path, agent: Agent, hub: Hub, **spec: Any) -> tuple[StartRunner, Path]:
    """A job whose rank 1 fails in round 1 once the file that is given back is there."""
    script, go = folder / "train.py", folder / "go"
    script.write_text(SCRIPT)
    fields = {"nproc_per_node": 2, "max_restarts": 3, "preload": (), "env": {"API_TOKEN": SECRET}}
    command = start_command(agent.name, str(go), **{"script": str(script), **fields, **spec})
    assert hub.carry_out(command)["outcome"] == "done"
    wait_until(
        lambda: all("my token" in read(agent, command, rank) for rank in (0, 1)), what="both ranks to be up"
    )
    return command, go


def read(agent: Agent, command: StartRunner, rank: int) -> str:
    log = agent.bundle(command.message.attempt).log(1, rank, "stdout")
    return log.read_text() if log.exists() else ""


def fetch(valkey: Valkey, node: str, attempt: str, limit: int = 1500) -> zipfile.ZipFile:
    """The node's part of round 1, in slices."""
    data, size = b"", 1
    while len(data) < size:
        request = EvidenceSlice(id=new_id(), attempt=attempt, round=1, offset=len(data), limit=limit)
        valkey.redis.rpush(requests(node), to_json(request))
        found: Any = valkey.redis.blpop([answer(request.id)], timeout=5)
        said = read_answer_as(EvidenceSliceAnswer, found[1])
        assert said.problem is None
        data, size = data + base64.b64decode(said.data), said.size
    return zipfile.ZipFile(io.BytesIO(data))


def test_a_failed_round_leaves_stacks_lines_and_errors_and_runs_the_jobs_commands(
    valkey: Valkey, agent: Agent, hub: Hub, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    command, go = launch(
        tmp_path,
        agent,
        hub,
        on_failure=(
            f'echo "$REGROUP_RANK|$REGROUP_CAUSE" >> {told}; ls "$REGROUP_EVIDENCE"; echo $API_TOKEN; exit 3',
            "sleep 600 & sleep 600",
        ),
        on_end=('echo "$REGROUP_HOOK of round $REGROUP_ROUND: $REGROUP_OUTCOME"',),
        hook_timeout_s=1.0,
    )
    attempt = command.message.attempt
    go.touch()
    kept = hub.wait_for("evidence_kept", attempt=attempt, round=1)
    exited = f"Rank 1 on {agent.name} exited with code 1: ValueError: the loss is not a number"
    assert kept["cause"].startswith(exited)
    assert (kept["ranks"], kept["stacks"], kept["dropped"]) == ([0, 1], [0], [])
    first, second = (hub.wait_for("hook_ended", hook="on_failure", index=index) for index in (0, 1))
    assert (first["outcome"], first["exit_code"]) == ("ended", 3)
    assert {"part.json", "rank-0"} <= set(first["output"].split())
    assert (second["outcome"], second["exit_code"], second["said"]) == (
        "timed_out",
        None,
        "was ended after its 1 s (hook_timeout_s)",
    )
    mark = f"{agent.bundle(attempt).mark}/on_failure-1-1"
    assert procs.find_marked(mark) == []
    assert told.read_text() == f"1|{kept['cause']}\n"
    part = fetch(valkey, agent.name, attempt)
    assert "wait_for_the_others" in part.read("rank-0/stack.txt").decode()
    assert "the loss is not a number" in part.read("rank-1/stderr.txt").decode()
    assert part.read("rank-0/stdout.txt").decode() == f"my token is {MASK}\n"
    assert "part.json" in part.read("hooks/on_failure-1.txt").decode()
    assert '"kind":"worker_exited"' in part.read("journal.jsonl").decode()
    assert json.loads(part.read("environment.json"))["API_TOKEN"] == MASK
    assert all(SECRET.encode() not in part.read(name) for name in part.namelist())
    # The job trains on, and a stop that was asked for leaves no evidence.
    hub.wait_for("workers_started", attempt=attempt, round=2)
    assert hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=5))["outcome"] == "done"
    last = hub.wait_for("hook_ended", hook="on_end")
    assert (last["round"], last["output"]) == (2, "on_end of round 2: stopped\n")
    assert [record["round"] for record in hub.found("evidence_kept")] == [1]


def test_what_failed_while_the_agent_was_dead_is_kept_by_the_next_and_a_cut_off_command_runs_once(
    agent: Agent, hub: Hub, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    command, go = launch(
        tmp_path, agent, hub, on_failure=(f"echo ran >> {ran}; sleep 600",), hook_timeout_s=600.0
    )
    attempt = command.message.attempt
    agent.kill()
    go.touch()
    journal = agent.bundle(attempt).journal
    wait_until(lambda: '"kind":"workers_started","round":2' in journal.read_text(), what="round 2")
    agent.start()
    assert hub.wait_for("evidence_kept", attempt=attempt, round=1)["stacks"] == [0]
    wait_until(ran.exists, what="the command to run")
    agent.kill()
    agent.start()
    ended = hub.wait_for("hook_ended", attempt=attempt)
    assert (ended["outcome"], ended["said"]) == ("cut_off", "was cut off: its node agent ended while it ran")
    # Another failure, whose command is another one; the first has run once.
    os.kill(hub.worker(attempt, 2).pid, signal.SIGKILL)
    hub.wait_for("evidence_kept", attempt=attempt, round=2)
    wait_until(lambda: ran.read_text() == "ran\nran\n", what="the second command")
    assert len(hub.found("hook_ended")) == len(hub.found("evidence_kept", round=1)) == 1
    procs.end_marked(f"{agent.bundle(attempt).mark}/on_failure-2-0")

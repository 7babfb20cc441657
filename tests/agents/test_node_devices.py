"""GPUs: each runner sees its own by UUID, and no two have the same one unless a job asks."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.node.devices import NodeGpus, devices_of
from agents.node.outcome import Refused
from agents.node.probes import gpus
from agents.node.probes.gpus import named
from agents.wire.commands import StartRunner, StopRunner
from agents.wire.events import Gpu
from tests.agents.node_harness import QUICK, Agent, Hub, Valkey, incarnate, new_id, start_command
from tests.nvml import stand_in
from tests.waiting import wait_until

REAL = Path(sys.executable).with_name("regroup-agent")
"""Starts its runners anew. Only with ``LD_LIBRARY_PATH`` from the start do they find the driver's library."""
SHOWS = "import os, time\nprint(os.environ.get('CUDA_VISIBLE_DEVICES'), flush=True)\ntime.sleep(600)\n"
FOUR = tuple(
    Gpu(index=i, name="made up", memory_bytes=1, uuid=f"GPU-{word}") for i, word in enumerate("abcd")
)


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with this node's GPUs."""
    return stand_in(tmp_path / "driver", monkeypatch, "GPU-a GPU-b")


@pytest.fixture
def node(listed: Path, valkey: Valkey, start_agent: Callable[..., Agent]) -> Agent:
    """With real runners and keepers, and as many slots as GPUs."""
    assert listed.exists()
    return start_agent(valkey, entry=QUICK, slots=None)


@pytest.fixture
def node_hub(valkey: Valkey, node: Agent) -> Hub:
    return Hub(valkey.redis, node.name)


@pytest.fixture
def cold_node(listed: Path, valkey: Valkey, start_agent: Callable[..., Agent]) -> Agent:
    """The same, with runners that ask the driver."""
    assert listed.exists()
    return start_agent(valkey, entry=REAL, slots=None)


@pytest.fixture
def cold_hub(valkey: Valkey, cold_node: Agent) -> Hub:
    return Hub(valkey.redis, cold_node.name)


def job(node: Agent, folder: Path, **spec: Any) -> StartRunner:
    script = folder / "shows.py"
    script.write_text(SHOWS)
    return start_command(node.name, script=str(script), **({"start": "exec"} | spec))


def start(node: Agent, hub: Hub, folder: Path, **spec: Any) -> tuple[str, dict[str, Any]]:
    """The attempt, and how the command ended."""
    command = job(node, folder, **spec)
    ended = hub.carry_out(command)
    assert ended["outcome"] == "done", ended
    return command.message.attempt, ended


def seen(node: Agent, attempt: str, incarnation: int = 1, round_number: int = 1) -> str:
    """What the worker has printed."""
    log = node.bundle(attempt, incarnation).log(round_number, 0, "stdout")
    wait_until(lambda: log.exists() and log.read_text().endswith("\n"), 90, "the worker to show what it sees")
    return log.read_text().strip()


def test_each_runner_gets_a_gpu_of_its_own_and_leaves_it_to_the_next(
    node: Agent, node_hub: Hub, tmp_path: Path
) -> None:
    assert node_hub.wait_for("node_started")["facts"]["slots"] == 2
    one, ended = start(node, node_hub, tmp_path)
    assert ended["reason"] == f"The runner runs on {node.name}. It has GPU-a."
    assert ended["evidence"]["gpus"] == "GPU-a"
    other, _ = start(node, node_hub, tmp_path)
    assert (seen(node, one), seen(node, other)) == ("GPU-a", "GPU-b")
    node_hub.wait_free(0)
    node_hub.carry_out(StopRunner(id=new_id(), attempt=one, grace_s=5))
    third, _ = start(node, node_hub, tmp_path)
    assert seen(node, third) == "GPU-a"


def test_of_two_node_agents_on_one_machine_each_has_gpus_of_its_own(
    listed: Path,
    valkey: Valkey,
    start_agent: Callable[..., Agent],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed.write_text("GPU-a GPU-b GPU-c")
    monkeypatch.setenv("REGROUP_GPU_SHARE", "2/2")
    second = start_agent(valkey, entry=QUICK, slots=None)
    hub = Hub(valkey.redis, second.name)
    facts = hub.wait_for("node_started")["facts"]
    assert ([gpu["uuid"] for gpu in facts["gpus"]], facts["slots"]) == (["GPU-b"], 1)
    attempt, _ = start(second, hub, tmp_path)
    assert seen(second, attempt) == "GPU-b"


def test_the_choice_outlives_the_node_agent(node: Agent, node_hub: Hub, tmp_path: Path) -> None:
    one, _ = start(node, node_hub, tmp_path)
    node.kill()
    node.start()
    node_hub.wait_for("runner_adopted", attempt=one)
    other, _ = start(node, node_hub, tmp_path)
    assert seen(node, other) == "GPU-b"
    assert devices_of(node.bundle(one)).gpus == ("GPU-a",)


def test_a_gpu_that_has_vanished_is_given_to_nobody(
    node: Agent, node_hub: Hub, listed: Path, tmp_path: Path
) -> None:
    node_hub.wait_free(2)
    listed.write_text("GPU-b")
    ended = node_hub.carry_out(job(node, tmp_path, nproc_per_node=2))
    assert ended["outcome"] == "refused"
    assert ended["reason"] == (
        f"{node.name} has 1 of 2 GPUs free, and the job has 2 workers there. "
        "Gone since the node agent began: GPU-a."
    )
    attempt, _ = start(node, node_hub, tmp_path)
    assert seen(node, attempt) == "GPU-b"


def test_a_later_runner_with_one_worker_less_does_without_the_gpu_that_is_gone(
    node: Agent, node_hub: Hub, listed: Path, tmp_path: Path
) -> None:
    first = job(node, tmp_path, nproc_per_node=2)
    assert node_hub.carry_out(first)["evidence"]["gpus"] == "GPU-a GPU-b"
    listed.write_text("GPU-b")
    assert node_hub.carry_out(incarnate(first, 2, nproc=1))["outcome"] == "done"
    assert devices_of(node.bundle(first.message.attempt, 2)).gpus == ("GPU-b",)
    node_hub.wait_free(1)


def kill(node: Agent, hub: Hub, attempt: str, round_number: int, rank: int) -> None:
    started = hub.wait_for("workers_started", attempt=attempt, round=round_number)
    worker = next(each for each in started["workers"] if each["rank"] == rank)
    os.kill(worker["pid"], signal.SIGKILL)


@pytest.mark.parametrize("how", ["exec", "preload"])
def test_a_worker_whose_gpu_is_gone_is_not_started_again_where_the_job_says_so(
    cold_node: Agent, cold_hub: Hub, listed: Path, tmp_path: Path, how: str
) -> None:
    command = job(cold_node, tmp_path, nproc_per_node=2, max_restarts=3, shrink_on_gpu_loss=True, start=how)
    attempt = command.message.attempt
    assert cold_hub.carry_out(command)["evidence"]["gpus"] == "GPU-a GPU-b"
    assert seen(cold_node, attempt) == "GPU-a,GPU-b"
    listed.write_text("- GPU-b")
    kill(cold_node, cold_hub, attempt, 1, 0)
    assert cold_hub.wait_for("rendezvous_begun", attempt=attempt, previous_round=1)["gone_gpus"] == ["GPU-a"]
    assert cold_hub.wait_for("rendezvous_completed", attempt=attempt, round=2)["world_size"] == 1
    assert seen(cold_node, attempt, round_number=2) == "GPU-b"
    # It comes back, as after a reset, and with it the worker.
    listed.write_text("GPU-a GPU-b")
    kill(cold_node, cold_hub, attempt, 2, 0)
    assert cold_hub.wait_for("rendezvous_completed", attempt=attempt, round=3)["world_size"] == 2
    assert seen(cold_node, attempt, round_number=3) == "GPU-a,GPU-b"
    # The last ones go too.
    listed.write_text("- -")
    kill(cold_node, cold_hub, attempt, 3, 1)
    finished = cold_hub.wait_for("runner_finished", attempt=attempt)
    assert (finished["outcome"], finished["is_infrastructure"]) == ("failed", True)
    assert finished["reason"] == f"No GPU is left on {cold_node.name}: GPU-a, GPU-b do not answer any more."


def test_without_that_all_workers_are_started_again(
    cold_node: Agent, cold_hub: Hub, listed: Path, tmp_path: Path
) -> None:
    command = job(cold_node, tmp_path, nproc_per_node=2, max_restarts=3)
    cold_hub.carry_out(command)
    assert seen(cold_node, command.message.attempt) == "GPU-a,GPU-b"
    listed.write_text("GPU-a -")
    kill(cold_node, cold_hub, command.message.attempt, 1, 0)
    assert (
        cold_hub.wait_for("rendezvous_completed", attempt=command.message.attempt, round=2)["world_size"] == 2
    )


def test_what_the_job_itself_says_wins_and_is_said(node: Agent, node_hub: Hub, tmp_path: Path) -> None:
    one, ended = start(node, node_hub, tmp_path, env={"CUDA_VISIBLE_DEVICES": "1"})
    assert ended["reason"] == (
        f"The runner runs on {node.name}. CUDA_VISIBLE_DEVICES is '1', as the job has it."
    )
    assert ended["evidence"]["gpus"] == "GPU-b"
    # It may share; the next one has not asked to.
    other, _ = start(node, node_hub, tmp_path)
    assert (seen(node, one), seen(node, other)) == ("1", "GPU-a")


def test_workers_beyond_the_gpus_see_none(
    listed: Path, valkey: Valkey, start_agent: Callable[..., Agent], tmp_path: Path
) -> None:
    listed.write_text("GPU-a")
    node = start_agent(valkey, entry=QUICK, slots=2)
    hub = Hub(valkey.redis, node.name)
    one, _ = start(node, hub, tmp_path)
    other, ended = start(node, hub, tmp_path)
    assert (seen(node, one), seen(node, other)) == ("GPU-a", "")
    assert ended["reason"].endswith("It sees none, so that none is shared.")


def test_a_warm_start_gives_the_gpus_too(
    listed: Path, valkey: Valkey, start_agent: Callable[..., Agent], tmp_path: Path
) -> None:
    assert listed.exists()
    node = start_agent(valkey, entry=REAL, slots=None, warm=True)
    hub = Hub(valkey.redis, node.name)

    def start_warm() -> str | None:
        attempt, _ = start(node, hub, tmp_path)
        how = hub.wait_for("runner_started", attempt=attempt)["start"]
        visible = seen(node, attempt)
        assert visible == "GPU-a"
        hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=5))
        return attempt if how == "warm" else None

    wait_until(start_warm, 90, "a warm process to be used")


@pytest.mark.parametrize(
    ("text", "uuids"),
    [
        ("0,2", ["GPU-a", "GPU-c"]),
        (" 3 , GPU-a", ["GPU-d", "GPU-a"]),
        ("1,1", ["GPU-b"]),
        ("1,9,2", ["GPU-b"]),
        ("GPU-", []),
        ("MIG-1", []),
        ("-1", []),
        ("", []),
    ],
)
def test_the_variable_is_read_as_cuda_reads_it(text: str, uuids: list[str]) -> None:
    assert list(named(text, FOUR)) == uuids


def test_a_node_agent_that_may_use_some_gpus_alone_knows_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "_find_all", lambda: (FOUR, "none"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,GPU-d")
    assert [gpu.uuid for gpu in gpus.find_gpus()[0]] == ["GPU-b", "GPU-d"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-5")
    assert gpus.find_gpus() == (
        (),
        "none that the node agent may use: its CUDA_VISIBLE_DEVICES is 'MIG-5'",
    )


def test_on_a_node_without_gpus_nothing_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "find_gpus", lambda: ((), "none"))
    chosen = NodeGpus("node-a", 2).choose(start_command("node-a").message, ())
    assert (chosen.gpus, chosen.variables, chosen.said) == ((), {}, "")


def test_gpus_that_others_have_are_not_given_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "find_gpus", lambda: (FOUR, "none"))
    node = NodeGpus("node-a", 4)
    message = start_command("node-a", nproc_per_node=2).message
    assert node.choose(message, {"GPU-a", "GPU-c"}).variables == {"CUDA_VISIBLE_DEVICES": "GPU-b,GPU-d"}
    with pytest.raises(Refused, match="node-a has 1 of 4 GPUs free, and the job has 2 workers there"):
        node.choose(message, {"GPU-a", "GPU-b", "GPU-c"})

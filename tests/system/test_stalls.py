"""A worker that holds up the others is named within seconds, with its process state or its stack."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.system.jobs import Json, job, kill, launch, stop, wait_command, wait_job, worker
from tests.waiting import wait_until

SCRIPT = """
import os, sys, threading, time
from pathlib import Path
import torch
import torch.distributed as dist
import regroup_report

ORDERS, RANK = Path(sys.argv[1]), int(os.environ["RANK"])
dist.init_process_group("gloo")

def is_ordered(what):
    # Once: whoever carries it out takes it away.
    try:
        (ORDERS / f"{what}-{RANK}").unlink()
    except FileNotFoundError:
        return False
    return True

def wait_for_ever():
    lock = threading.Lock()
    with lock, lock:
        pass

def save(step):
    path = ORDERS / "checkpoint"
    with regroup_report.saving(step, str(path)):
        time.sleep(8)

for step in range(1, 100_000):
    dist.all_reduce(torch.ones(1))
    time.sleep(0.1)
    regroup_report.step(step)
    if is_ordered("deadlock"):
        wait_for_ever()
    if is_ordered("save"):
        save(step)
"""


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file here tells a rank what to do."""
    return tmp_path_factory.mktemp("orders")


@pytest.fixture(scope="module")
def training(operator: httpx.Client, orders: Path) -> Iterator[int]:
    """A job of two nodes with two workers each, which trains."""
    script = orders / "train.py"
    script.write_text(SCRIPT)
    job_id = launch(
        operator,
        name="stalls",
        script=str(script),
        args=[str(orders)],
        nnodes="2",
        nproc_per_node=2,
        max_restarts=3,
        shutdown_timeout=2,
    )
    wait_job(operator, job_id, "the job to train", state="training")
    yield job_id
    stop(operator, job_id)


def order(orders: Path, what: str, rank: int) -> None:
    (orders / f"{what}-{rank}").touch()


def stalls(api: httpx.Client, job_id: int) -> list[Json]:
    found: list[Json] = api.get(f"/api/jobs/{job_id}/stalls").json()["items"]
    return found


def test_a_checkpoint_of_several_seconds_is_no_stall(
    operator: httpx.Client, training: int, orders: Path
) -> None:
    wait_until(lambda: (job(operator, training)["step"] or 0) > 30, what="a pace")
    order(orders, "save", 0)
    begun = wait_until(lambda: job(operator, training)["checkpoint_step"], what="the checkpoint")
    wait_until(lambda: job(operator, training)["step"] > begun, what="the steps after it")
    assert stalls(operator, training) == []
    assert {
        job(operator, training)["state"],
        *(said["state"] for said in _past(operator, training)),
    }.isdisjoint({"stalled"})


def _past(api: httpx.Client, job_id: int) -> list[Json]:
    found: list[Json] = job(api, job_id)["past"]
    return found


def test_a_stopped_rank_is_named_with_its_process_state(operator: httpx.Client, training: int) -> None:
    frozen = worker(job(operator, training), 3)
    os.kill(frozen["pid"], signal.SIGSTOP)
    try:
        seen = wait_job(operator, training, "the stall", state="stalled")
        assert (seen["stall"]["rank"], seen["stall"]["node"]) == (3, frozen["node"])
        assert f"rank 3 on {frozen['node']}" in seen["state_reason"]
        assert "its process is stopped (T)" in seen["state_reason"]
        used = _used(operator, training)
        assert (used[3]["state"], used[3]["progress_s"] > 2) == ("T", True)
        assert used[0]["memory_bytes"] > 1_000_000
    finally:
        os.kill(frozen["pid"], signal.SIGCONT)
    gone_on = wait_job(operator, training, "the job to go on", state="training")
    assert gone_on["restarts"]["failure"] == 0
    assert stalls(operator, training)[0]["ended_at"] is not None


def _used(api: httpx.Client, job_id: int) -> dict[int, Json]:
    answer = api.get(f"/api/jobs/{job_id}/workers/usage").json()
    return {one["rank"]: one for one in answer["workers"]}


def test_a_deadlocked_rank_is_named_with_its_stack_and_a_restart_begins_clean(
    operator: httpx.Client, training: int, orders: Path
) -> None:
    order(orders, "deadlock", 1)
    seen = wait_job(operator, training, "the stall", state="stalled")
    seen = wait_until(lambda: _named(job(operator, training)), what="the rank to be named")
    assert seen["stall"]["rank"] == 1
    assert "it stands in wait_for_ever (train.py:" in seen["state_reason"]
    assert ", the others in all_reduce (train.py:" in seen["state_reason"]
    stacks: Any = operator.get(f"/api/jobs/{training}/stacks").json()
    first, second = stacks["groups"]
    assert (first["ranks"], first["stands_out"]) == ([1], True)
    assert first["threads"][0]["frames"][0]["name"] == "wait_for_ever"
    assert (second["ranks"], second["is_waiting"]) == ([0, 2, 3], True)
    assert {one["method"] for one in stacks["ranks"]} == {"py-spy"}
    # What stood still is over with its round.
    command = kill(operator, seen, 1).json()
    assert wait_command(operator, command["id"])["state"] == "done"
    back = wait_job(operator, training, "the next round to train", state="training", round=seen["round"] + 1)
    assert back["stall"] is None
    kept = operator.get(f"/api/jobs/{training}/stalls").json()
    assert [group["ranks"] for group in kept["groups"]] == [[1], [0, 2, 3]]


def _named(seen: Json) -> Json | None:
    return seen if seen["stall"] is not None and seen["stall"]["rank"] is not None else None

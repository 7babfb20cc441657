"""Nodes come and go while a job trains: the workers of the old round train on, and nobody pays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.system.jobs import Json, job, launch_counting, stop, wait_job
from tests.system.stack import Stack
from tests.waiting import wait_until


@pytest.fixture
def api(stack: Stack) -> Iterator[httpx.Client]:
    with stack.client("anna", "operator") as client:
        yield client


def scale(api: httpx.Client, job_id: int, nodes: int, reason: str = "") -> Json:
    answer = api.post(f"/api/jobs/{job_id}/scale", json={"nodes": nodes, "reason": reason})
    assert answer.status_code == 202, answer.text
    found: Json = answer.json()
    return found


def wait_trains(api: httpx.Client, job_id: int, nodes: int, timeout_s: float = 90.0) -> Json:
    """Wait until all ranks of that many nodes report progress."""

    def trains() -> Json | None:
        last.update(job(api, job_id))
        is_there = (last["nodes"]["formed"], last["nodes"]["alive"], last["world_size"]) == (
            nodes,
            nodes,
            nodes,
        )
        return last if is_there and last["state"] == "training" else None

    last: Json = {}
    try:
        return wait_until(trains, timeout_s, f"training on {nodes} nodes")
    except AssertionError as error:
        told = {k: last.get(k) for k in ("state", "state_reason", "nodes", "members", "restarts", "attempts")}
        raise AssertionError(f"{error}\nthe job was: {told}") from None


def test_a_job_grows_from_one_node_to_three_and_shrinks_again_and_nobody_pays(
    api: httpx.Client, tmp_path: Path
) -> None:
    job_id = launch_counting(api, tmp_path, steps=1_000_000, nnodes="1:3", nodes=1)
    wait_trains(api, job_id, 1)
    asked = scale(api, job_id, 3, "more data")
    assert (asked["nodes"]["wanted"], asked["nodes"]["formed"]) == (3, 1)
    grown = wait_trains(api, job_id, 3)
    assert grown["restarts"]["membership"] >= 1
    assert "joined" in grown["state_reason"]

    scale(api, job_id, 1, "it is night")
    shrunk = wait_trains(api, job_id, 1)
    assert shrunk["restarts"]["failure"] == 0
    assert {budget["charged"] for budget in shrunk["restarts"]["by_node"].values()} == {0}
    assert (shrunk["attempt"], shrunk["restarts"]["remaining"]) == (1, 3)
    assert "scaled down from 3 to 1 node by anna: it is night" in shrunk["state_reason"]
    wait_until(lambda: _settled(api, job_id) == 2, 30, "the slots of those that left to be free")
    events = api.get(f"/api/jobs/{job_id}/events?limit=500").json()["items"]
    asked_for = [event["says"] for event in events if event["kind"] == "scale_asked"]
    assert asked_for == [
        "anna asked for 3 nodes instead of 1: more data.",
        "anna asked for 1 node instead of 3: it is night.",
    ]
    stop(api, job_id)
    wait_job(api, job_id, "its end", state="stopped")


def _settled(api: httpx.Client, job_id: int) -> int:
    return sum(member["settled_at"] is not None for member in job(api, job_id)["members"])

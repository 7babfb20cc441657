"""Draining nodes of a real stack: jobs move, shrink or start anew, as was foretold, and nobody pays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.system.jobs import Json, launch_counting, stop
from tests.system.stack import Stack
from tests.system.test_scale import wait_trains
from tests.waiting import wait_until


@pytest.fixture
def api(stack: Stack) -> Iterator[httpx.Client]:
    """Whatever a test drains is used again afterwards."""
    with stack.client("anna", "operator") as client:
        yield client
        for node in client.get("/api/nodes").json()["items"]:
            client.post(f"/api/nodes/{node['name']}/undrain")


def foretold(api: httpx.Client, node: str) -> Json:
    jobs = api.get(f"/api/nodes/{node}/drain").json()["jobs"]
    assert len(jobs) == 1, jobs
    found: Json = jobs[0]
    return found


def drain(api: httpx.Client, node: str) -> None:
    assert api.post(f"/api/nodes/{node}/drain", json={"reason": "a new disk"}).status_code == 202


def wait_drained(api: httpx.Client, name: str) -> None:
    def is_drained() -> bool:
        nodes = api.get("/api/nodes").json()["items"]
        return next(bool(node["is_drained"]) for node in nodes if node["name"] == name)

    wait_until(is_drained, 60, f"{name} to be drained")


def guest_of(seen: Json) -> str:
    """A node of the job that does not keep its store."""
    members = [m for m in seen["members"] if not m["hosts_store"] and m["settled_at"] is None]
    return str(members[0]["node"])


def nodes_in(seen: Json) -> set[str]:
    return {worker["node"] for worker in seen["workers"]}


def test_a_job_moves_to_the_free_node(api: httpx.Client, tmp_path: Path) -> None:
    job_id = launch_counting(api, tmp_path, steps=1_000_000, nodes=2)
    node = guest_of(wait_trains(api, job_id, 2))
    told = foretold(api, node)
    assert told["effect"] == "moves"
    drain(api, node)
    wait_drained(api, node)
    moved = wait_trains(api, job_id, 2)
    assert told["to"][0] in nodes_in(moved)
    assert node not in nodes_in(moved)
    assert (moved["attempt"], moved["restarts"]["failure"]) == (1, 0)
    stop(api, job_id)


def test_a_job_shrinks_where_no_node_is_free(api: httpx.Client, tmp_path: Path) -> None:
    job_id = launch_counting(api, tmp_path, steps=1_000_000, nodes=3)
    node = guest_of(wait_trains(api, job_id, 3))
    assert foretold(api, node)["effect"] == "shrinks"
    drain(api, node)
    wait_drained(api, node)
    shrunk = wait_trains(api, job_id, 2)
    assert (shrunk["attempt"], shrunk["restarts"]["failure"]) == (1, 0)
    assert "drained by anna: a new disk" in shrunk["state_reason"]
    assert api.post(f"/api/nodes/{node}/undrain").status_code == 200
    grown = wait_trains(api, job_id, 3)
    assert grown["restarts"]["failure"] == 0
    stop(api, job_id)


def test_a_job_starts_anew_without_the_node_that_keeps_its_store(api: httpx.Client, tmp_path: Path) -> None:
    job_id = launch_counting(api, tmp_path, steps=1_000_000, nodes=2)
    host = wait_trains(api, job_id, 2)["store_host"]
    told = foretold(api, host)
    assert told["effect"] == "relaunches"
    drain(api, host)
    wait_drained(api, host)
    anew = wait_trains(api, job_id, 2)
    assert (anew["attempt"], anew["restarts"]["failure"]) == (2, 0)
    assert host not in nodes_in(anew)
    assert anew["attempts"][1]["why"] == f"{host} was drained by anna: a new disk."
    assert anew["relaunches"]["used"] == 0
    stop(api, job_id)

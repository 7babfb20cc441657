"""Four nodes with several workers each: one is lost and comes back, then the one with the store is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.system.jobs import EXAMPLES, Json, job, launch, stop
from tests.system.node_faults import lost
from tests.system.stack import Stack, run_stack
from tests.system.test_scale import scale
from tests.waiting import wait_until

NODES = 4
SLOTS = int(os.environ.get("REGROUP_TEST_SLOTS", "3"))
"""More than there are cores, so that workers are forked. REGROUP_TEST_SLOTS=8 trains on 32 ranks."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """As ``make run NODES=4 SLOTS=…`` starts it."""
    with run_stack(tmp_path_factory.mktemp("demo"), nodes=NODES, slots=SLOTS) as stack:
        yield stack


@pytest.fixture(scope="module")
def api(own: Stack) -> Iterator[httpx.Client]:
    with own.client("olga", "operator") as client:
        yield client


def launch_collectives(api: httpx.Client, **spec: Any) -> int:
    """Workers that do nothing but add up ones, and report to how many that comes."""
    script = {"script": str(EXAMPLES / "minimal.py"), "args": ["--steps", "1000000", "--pace", "0.2"]}
    return launch(api, nnodes="1:4", max_restarts=3, start="preload", **script, **spec)


def wait_ranks(api: httpx.Client, job_id: int, size: int, timeout_s: float = 180.0) -> Json:
    """Wait until that many ranks train, and each of them has met all the others."""
    last: Json = {}

    def all_met() -> Json | None:
        last.update(job(api, job_id))
        met = [worker["metrics"].get("ranks") for worker in last["workers"]]
        return last if last["state"] == "training" and met == [size] * size else None

    try:
        return wait_until(all_met, timeout_s, f"{size} ranks to train")
    except AssertionError as error:
        told = {k: last.get(k) for k in ("state", "state_reason", "nodes", "restarts", "attempts")}
        raise AssertionError(f"{error}\nthe job was: {told}") from None


def nodes_of(seen: Json) -> set[str]:
    return {worker["node"] for worker in seen["workers"]}


def test_a_node_is_lost_and_comes_back_and_then_the_one_with_the_store_is_lost(
    own: Stack, api: httpx.Client
) -> None:
    job_id = launch_collectives(api, nodes=NODES, nproc_per_node=SLOTS)
    first = wait_ranks(api, job_id, NODES * SLOTS)
    host = first["store_host"]
    guest = max(nodes_of(first) - {host})
    with lost(own, guest):
        without = wait_ranks(api, job_id, (NODES - 1) * SLOTS)
        assert guest not in nodes_of(without)
        assert_nobody_paid(without, attempt=1)
        assert without["restarts"]["membership"] == 1
    assert_nobody_paid(wait_ranks(api, job_id, NODES * SLOTS), attempt=1)

    with lost(own, host):
        anew = wait_ranks(api, job_id, (NODES - 1) * SLOTS)
        assert host not in nodes_of(anew)
        assert_nobody_paid(anew, attempt=2)
        assert (anew["relaunches"]["used"], anew["restarts"]["membership"]) == (1, 0)
    stop(api, job_id, 90)


def test_a_job_that_begins_alone_grows_to_four_nodes_and_back_to_one(api: httpx.Client) -> None:
    wait_until(lambda: all_free(api), 120, "all nodes to be free again")
    job_id = launch_collectives(api, nodes=1, nproc_per_node=2)
    wait_ranks(api, job_id, 2)
    scale(api, job_id, 4)
    assert_nobody_paid(wait_ranks(api, job_id, 8), attempt=1)
    scale(api, job_id, 1)
    assert_nobody_paid(wait_ranks(api, job_id, 2), attempt=1)
    stop(api, job_id)


def assert_nobody_paid(seen: Json, attempt: int) -> None:
    charged = {node: budget["charged"] for node, budget in seen["restarts"]["by_node"].items()}
    assert set(charged.values()) <= {0}, charged
    assert (seen["restarts"]["failure"], seen["restarts"]["remaining"], seen["attempt"]) == (0, 3, attempt)


def all_free(api: httpx.Client) -> bool:
    items = api.get("/api/nodes").json()["items"]
    return all(item["state"] == "online" and item["slots_free"] == item["slots"] for item in items)

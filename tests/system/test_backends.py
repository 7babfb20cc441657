"""Every rendezvous backend through the whole product: trained, killed, recovered, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.etcd import BINARIES, Etcd, run_etcd
from tests.system.jobs import (
    Json,
    job,
    kill,
    launch_counting,
    pid_of_keeper,
    stop,
    wait_command,
    wait_job,
    worker,
)
from tests.system.stack import Stack, free_port
from tests.waiting import wait_until


@pytest.fixture
def etcd(tmp_path: Path) -> Iterator[Etcd]:
    with run_etcd(tmp_path, BINARIES[0]) as server:
        yield server


def train(api: httpx.Client, job_id: int, round_number: int) -> Json:
    """Until that round has made some steps."""
    wait_job(api, job_id, "training", state="training", round=round_number)
    begun = job(api, job_id)["step"] or 0

    def goes_on() -> Json | None:
        seen = job(api, job_id)
        return seen if (seen["step"] or 0) > begun else None

    return wait_until(goes_on, 60, "the steps to go on")


def kill_and_recover(api: httpx.Client, job_id: int, rank: int) -> Json:
    """One kill is one failure restart, charged to the rank's node."""
    first = train(api, job_id, 1)
    closed = wait_command(api, kill(api, first, rank).json()["id"])
    assert closed["state"] == "done", closed["reason"]
    second = train(api, job_id, 2)
    assert (second["restarts"]["failure"], second["restarts"]["membership"]) == (1, 0)
    assert second["restarts"]["by_node"][worker(first, rank)["node"]]["charged"] == 1
    return second


def store_hosts(seen: Json) -> list[str]:
    return [member["node"] for member in seen["members"] if member["hosts_store"]]


def test_c10d_at_an_endpoint_that_was_named(operator: httpx.Client, tmp_path: Path) -> None:
    endpoint = f"127.0.0.1:{free_port()}"
    job_id = launch_counting(operator, tmp_path, rdzv_endpoint=endpoint, collective=True)
    seen = kill_and_recover(operator, job_id, 1)
    assert (seen["store_endpoint"], store_hosts(seen)) == (endpoint, [seen["store_host"]])
    refused = operator.post(
        "/api/jobs", json={"script": "/x.py", "rdzv_endpoint": endpoint, "nproc_per_node": 1}
    )
    assert refused.status_code == 422
    assert f"{endpoint} is held by job {job_id} counting" in refused.text
    stop(operator, job_id)


def test_etcd_hosted_by_nobody_of_the_job(operator: httpx.Client, tmp_path: Path, etcd: Etcd) -> None:
    job_id = launch_counting(
        operator, tmp_path, rdzv_backend="etcd-v3", rdzv_endpoint=etcd.endpoint, collective=True
    )
    seen = kill_and_recover(operator, job_id, 1)
    assert (seen["store_host"], seen["store_endpoint"], store_hosts(seen)) == (None, etcd.endpoint, [])
    told = etcd.keys()[f"/torch/elastic/{seen['attempt_id']}/summary"]
    assert all(member["node"] in told for member in seen["members"])
    stop(operator, job_id)
    wait_until(lambda: etcd.keys() == {}, 30, "the keys to be removed")


def test_static_with_ranks_in_the_order_of_its_nodes(operator: httpx.Client, tmp_path: Path) -> None:
    job_id = launch_counting(
        operator, tmp_path, nnodes="2", nodes=None, rdzv_backend="static", collective=True
    )
    seen = kill_and_recover(operator, job_id, 1)
    ranks = {member["group_rank"]: member["node"] for member in seen["members"]}
    assert ranks[0] == seen["store_host"]
    stop(operator, job_id)


def test_standalone_on_localhost(operator: httpx.Client, tmp_path: Path) -> None:
    job_id = launch_counting(
        operator, tmp_path, nnodes="1", nodes=None, nproc_per_node=2, standalone=True, collective=True
    )
    seen = kill_and_recover(operator, job_id, 1)
    assert seen["store_endpoint"].startswith("127.0.0.1:")
    assert len(seen["members"]) == 1
    stop(operator, job_id)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"rdzv_endpoint": "127.0.0.1:1"}, "127.0.0.1:1"),
        (
            {
                "rdzv_endpoint": "127.0.0.1:1",
                "rdzv_conf": {"user": "u", "password": "p", "protocol": "https"},
            },
            "1",
        ),
    ],
)
def test_an_etcd_that_is_not_there_is_said_in_words(
    operator: httpx.Client, tmp_path: Path, spec: dict[str, Any], says: str
) -> None:
    conf = {"join_timeout": "5", **spec.pop("rdzv_conf", {})}
    job_id = launch_counting(operator, tmp_path, rdzv_backend="etcd", rdzv_conf=conf, collective=True, **spec)
    ended = wait_job(operator, job_id, "the job to fail", state="failed")
    assert "etcd" in ended["state_reason"]
    assert says in ended["state_reason"]


def test_a_killed_runner_on_the_store_host_leaves_the_store(
    stack: Stack, operator: httpx.Client, tmp_path: Path
) -> None:
    job_id = launch_counting(operator, tmp_path, collective=True)
    seen = train(operator, job_id, 1)
    host = seen["store_host"]
    keeper = psutil.Process(pid_of_keeper(operator, job_id))
    runner = next(p for p in stack.processes() if is_runner(p, host, seen["attempt_id"]))
    runner.kill()

    def all_are_back() -> Json | None:
        now = job(operator, job_id)
        return now if now["state"] == "training" and now["round"] > 1 and now["world_size"] == 2 else None

    # The survivor may have trained alone for a round, until the runner was started again.
    again = wait_until(all_are_back, 60, "the runner to be started again")
    assert again["restarts"]["failure"] == 0
    assert (again["attempt_id"], again["store_host"]) == (seen["attempt_id"], host)
    assert keeper.is_running()
    stop(operator, job_id)


def is_runner(process: Any, node: str, attempt: str) -> bool:
    words = " ".join(process.cmdline())
    return "runner/boot.py" in words and f"{node}/bundles/{attempt}" in words

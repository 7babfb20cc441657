"""From a preview and checks to two jobs on one node that never meet: one stack, as ``make run`` starts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.system.jobs import EXAMPLES, Json, job, launch_counting, stop, wait_job
from tests.waiting import wait_until

EVERYWHERE = ("python", "script", "checkpoints", "endpoint", "address")


def over(api: httpx.Client, run: str) -> Json | None:
    told: Json = api.get(f"/api/checks/{run}").json()
    return told if told["is_over"] else None


def test_the_nodes_of_a_preview_are_checked_and_a_check_that_fails_refuses_the_launch(
    operator: httpx.Client, tmp_path: Path
) -> None:
    spec: dict[str, Any] = {
        "script": str(EXAMPLES / "char_lm.py"),
        "nnodes": "2",
        "checkpoint_dir": str(tmp_path / "shared"),
    }
    seen = operator.post("/api/jobs/preview", json=spec).json()
    nodes = {place["node"] for place in seen["runs_on"]}
    assert len(nodes) == 2, seen
    begun = operator.post("/api/jobs/checks", json=spec).json()
    told = wait_until(lambda: over(operator, begun["id"]), what="the checks to be over")
    assert {row["node"] for row in told["rows"]} == nodes
    found = {cell["check"]: cell for row in told["rows"] for cell in row["cells"]}
    assert {check: found[check]["verdict"] for check in EVERYWHERE} == dict.fromkeys(EVERYWHERE, "ok"), found
    refused = operator.post("/api/jobs", json={**spec, "script": "/nowhere.py", "checks": "require"})
    assert (refused.status_code, refused.json()["reason"]) == (409, "checks_failed")
    assert "/nowhere.py does not exist" in refused.json()["what"]


def pids(told: Json) -> set[int]:
    return {worker["pid"] for worker in told["workers"]}


@pytest.fixture
def one_node(operator: httpx.Client) -> str:
    """One that has room for two workers."""
    nodes = operator.get("/api/nodes").json()["items"]
    return next(str(node["name"]) for node in nodes if node["slots_free"] >= 2)


def test_of_two_jobs_on_one_node_the_first_to_end_leaves_the_other_alone(
    operator: httpx.Client, one_node: str, tmp_path: Path
) -> None:
    here: dict[str, Any] = {"nnodes": "1", "nodes": 1, "node_names": [one_node]}
    ids = [
        launch_counting(operator, tmp_path / name, steps=1_000_000, name=name, **here)
        for name in ("short", "long")
    ]
    short, long = (wait_job(operator, each, "training", 90, state="training") for each in ids)
    assert {member["node"] for told in (short, long) for member in told["members"]} == {one_node}
    assert short["store_endpoint"] != long["store_endpoint"]
    assert short["attempt_id"] != long["attempt_id"]
    before = pids(long)
    stop(operator, ids[0])
    step = job(operator, ids[1])["step"]
    after = wait_until(
        lambda: (told := job(operator, ids[1]))["step"] > step + 5 and told, what="the other to train on"
    )
    assert (after["state"], after["restarts"]["failure"], after["round"]) == ("training", 0, 1)
    assert pids(after) == before
    assert all(psutil.pid_exists(pid) for pid in before)
    stop(operator, ids[1])

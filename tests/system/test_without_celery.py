"""While Celery stands still, what runs is watched and killed as ever; what must be placed waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.system.jobs import job, kill, launch_counting, stop, wait_command, wait_job
from tests.system.stack import Stack
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def api(stack: Stack) -> Iterator[httpx.Client]:
    with stack.client("celia", "operator") as client:
        yield client


def test_a_kill_works_and_a_launch_waits_while_celery_stands_still(
    stack: Stack, api: httpx.Client, tmp_path: Path
) -> None:
    job_id = launch_counting(api, tmp_path / "one", nodes=1, nproc_per_node=2)
    seen = wait_job(api, job_id, "the job to train", state="training", world_size=2)
    celery = stack.process_of("worker")
    assert celery is not None
    celery.suspend()
    try:
        killed = kill(api, seen, 1)
        assert wait_command(api, killed.json()["id"])["state"] == "done"
        wait_job(api, job_id, "the job to come back", round=2, state="training")
        waiting = launch_counting(api, tmp_path / "two", nodes=1, nproc_per_node=1)
        assert job(api, waiting)["state"] == "queued"
        assert "Celery" in wait_until(lambda: _says(api), 30, "the health page to name Celery")
    finally:
        celery.resume()
    wait_job(api, waiting, "the waiting job to be placed", state="training")
    wait_until(lambda: api.get("/api/health").json()["ok"], 30, "everything to be well")
    for each in (job_id, waiting):
        stop(api, each)


def _says(api: httpx.Client) -> str:
    found = api.get("/api/health").json()["celery"]
    return "" if found["ok"] else str(found["says"])

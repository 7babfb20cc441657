"""The hub on a full disk: it says so, training goes on, and everything is there once there is room."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.small_disk import NEEDS_ROOT, fill, mounted
from tests.system.evidence import assert_each_record_once
from tests.system.jobs import Json, job, kill, launch_counting, stop, wait_command, wait_job
from tests.system.stack import Stack, run_stack
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason=NEEDS_ROOT)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", size_mib=256) as folder:
        yield folder


@pytest.fixture
def cramped(small_disk: Path) -> Iterator[Stack]:
    with run_stack(small_disk, nodes=2) as stack:
        yield stack


def health(api: httpx.Client) -> Json:
    found: Json = api.get("/api/health").json()
    return found


def step_of(api: httpx.Client, job_id: int) -> int:
    return max(w["step"] or 0 for w in job(api, job_id)["workers"])


def test_a_full_disk_is_named_ends_nothing_and_loses_nothing(
    cramped: Stack, small_disk: Path, tmp_path: Path
) -> None:
    with cramped.client("olga", "operator") as api:
        job_id = launch_counting(api, tmp_path / "checkpoints", nproc_per_node=1, max_restarts=100)
        seen = wait_job(api, job_id, "the job to train", state="training", world_size=2)
        supervisor = cramped.process_of("supervisor")
        assert supervisor is not None

        # What is queued, as the slots are taken, takes room in the database until there is none.
        bulky = {"script": "/x.py", "nnodes": "2", "nproc_per_node": 2, "args": ["x" * 1000] * 50}
        accepted: list[int] = []

        def refused() -> str | None:
            fill(small_disk / "filler")
            answer = api.post("/api/jobs", json=bulky)
            assert answer.status_code in (201, 503), answer.text
            if answer.status_code == 201:  # there was room for one more
                accepted.append(answer.json()["id"])
            return answer.text if answer.status_code == 503 else None

        assert "disk is full" in wait_until(refused, 40, "the hub to refuse for want of room")
        assert "is full" in health(api)["disk"]["says"]
        assert supervisor.is_running()

        (small_disk / "filler").unlink()
        wait_until(lambda: health(api)["ok"], 60, "everything to be well again")
        as_it_did = {"round": seen["round"], "state": "training", "world_size": 2}
        now = wait_job(api, job_id, "the job to train as it did", **as_it_did)
        for one in accepted:
            stop(api, one)
        before = step_of(api, job_id)
        wait_until(lambda: step_of(api, job_id) > before, 30, "newer steps to be told")
        killed = kill(api, now, 1)
        assert wait_command(api, killed.json()["id"])["state"] == "done"
        wait_job(api, job_id, "the job to come back", round=now["round"] + 1, state="training")
        assert supervisor.is_running()
        stop(api, job_id)
        assert_each_record_once(cramped)

"""An attempt that has lost its store is followed by another one, which trains on from the checkpoint."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.system.jobs import job, launch_counting, pid_of_keeper, stop, wait_job
from tests.system.stack import Stack
from tests.system.test_scale import wait_trains
from tests.waiting import wait_until


def test_a_killed_store_keeper_ends_the_attempt_and_another_one_trains_on(
    stack: Stack, tmp_path: Path
) -> None:
    with stack.client("anna", "operator") as api:
        job_id = launch_counting(api, tmp_path, steps=1_000_000, nodes=2)
        first = wait_trains(api, job_id, 2)
        saved = wait_until(lambda: job(api, job_id)["checkpoint_step"], 30, "a checkpoint")
        os.kill(pid_of_keeper(api, job_id), signal.SIGKILL)
        wait_job(api, job_id, "the second attempt", 60, attempt=2)
        second = wait_trains(api, job_id, 2)
        assert second["restarts"]["failure"] == 0
        assert second["resumed_step"] >= saved
        assert (second["relaunches"]["used"], second["relaunches"]["max"]) == (1, 3)
        lost = second["attempts"][1]
        assert lost["is_infrastructure"], lost
        assert first["store_host"] in lost["why"]
        assert {sentence["state"] for sentence in second["past"]}.isdisjoint({"failed", "lost", "stopped"})
        stop(api, job_id)

"""A worker is killed, and the job is watched coming back: on the real stack."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents import procs
from tests.system.jobs import (
    Json,
    job,
    kill,
    launch_char_lm,
    launch_counting,
    stop,
    wait_command,
    wait_job,
    worker,
)
from tests.waiting import wait_until

KILLS = int(os.environ.get("REGROUP_TEST_KILLS", "5"))


def _wait_trained(api: httpx.Client, job_id: int, steps: int, **expected: Any) -> Json:
    """Wait until the job trains in that round, and has come at least to that step."""
    wait_job(api, job_id, f"training {expected}", state="training", **expected)

    def has_come() -> Json | None:
        now = job(api, job_id)
        is_that = all(now[key] == value for key, value in expected.items())
        return now if is_that and now["step"] is not None and now["step"] >= steps else None

    return wait_until(has_come, 60, f"step {steps}")


def test_a_killed_worker_comes_back_in_a_new_round_and_spends_one_restart(
    operator: httpx.Client, tmp_path: Path
) -> None:
    job_id = launch_char_lm(operator, tmp_path, nproc_per_node=2)
    nodes = {"min": 1, "max": 3, "wanted": 2, "formed": 2, "alive": 2}
    # On a busy machine a node may be silent for a moment, and is not counted as alive then.
    first = _wait_trained(operator, job_id, 11, round=1, world_size=4, nodes=nodes)
    assert first["restarts"]["failure"] == 0
    saved = wait_until(lambda: job(operator, job_id)["checkpoint_step"], 30, "a checkpoint")

    answer = kill(operator, first, 3, "to prove that it recovers")
    assert answer.status_code == 202, answer.text
    closed = wait_command(operator, answer.json()["id"])
    assert closed["state"] == "done", closed["reason"]
    assert closed["evidence"]["pid"] == worker(first, 3)["pid"]

    second = _wait_trained(operator, job_id, 16, round=2, world_size=4)
    node = worker(first, 3)["node"]
    assert second["restarts"]["failure"] == 1
    assert second["restarts"]["membership"] == 0
    assert second["restarts"]["remaining"] == 2
    assert second["restarts"]["by_node"][node]["charged"] == 1
    assert [b["charged"] for n, b in second["restarts"]["by_node"].items() if n != node] == [0]
    assert second["resumed_step"] >= saved
    assert worker(second, 3)["pid"] != worker(first, 3)["pid"]
    assert "Rank 3" in second["state_reason"]
    assert "SIGKILL" in second["state_reason"]

    timeline = operator.get(f"/api/jobs/{job_id}/timeline").json()
    assert [(r["number"], r["restart"], r["charged"]) for r in timeline["rounds"]] == [
        (1, "start", None),
        (2, "failure", node),
    ]
    kills = [mark for mark in timeline["marks"] if mark["kind"] == "kill"]
    assert [(m["rank"], m["round"], m["by"]) for m in kills] == [(3, 1, "olga")]
    stop(operator, job_id)


def test_a_click_on_a_worker_that_was_replaced_hits_nobody(operator: httpx.Client, tmp_path: Path) -> None:
    job_id = launch_counting(operator, tmp_path, nproc_per_node=2, nodes=1, nnodes="1")
    first = _wait_trained(operator, job_id, 2, round=1)
    assert kill(operator, first, 1).status_code == 202
    second = _wait_trained(operator, job_id, 2, round=2)

    late = kill(operator, first, 1)
    assert late.status_code == 409
    assert late.json()["reason"] == "worker_replaced"
    again = job(operator, job_id)
    assert [w["pid"] for w in again["workers"]] == [w["pid"] for w in second["workers"]]
    assert again["restarts"]["failure"] == 1
    stop(operator, job_id)


REPORTED = ("detect", "stop", "joining", "last_call", "start", "script", "process_group", "first_step")
"""A checkpoint is loaded only where there is one by then, and a kill may come before the pace is regained."""


def _assert_accounted_for(api: httpx.Client, job_id: int, kills: int) -> None:
    """Each recovery is told phase by phase, one after the other, and next to nothing lies between them."""

    def recovered() -> list[Json]:
        rounds: list[Json] = api.get(f"/api/jobs/{job_id}/timeline").json()["rounds"][1:]
        return rounds if all(one["recovery_s"] is not None for one in rounds) else []

    rounds = wait_until(recovered, 20, "the first step of each round to be told")
    assert len(rounds) == kills
    for one in rounds:
        told = [phase for phase in one["phases"] if phase["seconds"] is not None]
        assert set(REPORTED) <= {phase["name"] for phase in told}, one
        starts = [phase["start"] for phase in told]
        assert starts == sorted(starts)
        assert one["unaccounted_s"] >= 0
        whole = sum(phase["seconds"] for phase in told if phase["name"] != "pace") + one["unaccounted_s"]
        assert whole == pytest.approx(one["recovery_s"], abs=1e-4)
    small = [one["unaccounted_s"] <= max(0.02, 0.02 * one["recovery_s"]) for one in rounds]
    assert 2 * sum(small) > kills, [(one["recovery_s"], one["unaccounted_s"]) for one in rounds]


def test_kills_in_a_row_are_one_failure_restart_each(operator: httpx.Client, tmp_path: Path) -> None:
    job_id = launch_counting(operator, tmp_path, nproc_per_node=2, max_restarts=50, collective=True)
    seen = _wait_trained(operator, job_id, 1, round=1, world_size=4)
    attempt = seen["attempt_id"]
    for number in range(1, KILLS + 1):
        answer = kill(operator, seen, rank=(number * 3) % 4)
        assert answer.status_code == 202, answer.text
        seen = wait_job(
            operator,
            job_id,
            f"kill {number} to be recovered",
            state="training",
            round=number + 1,
            world_size=4,
        )
        assert seen["restarts"]["failure"] == number
        assert seen["restarts"]["membership"] == 0
    assert sum(b["charged"] for b in seen["restarts"]["by_node"].values()) == KILLS
    _assert_accounted_for(operator, job_id, KILLS)
    stop(operator, job_id)
    for node in seen["restarts"]["by_node"]:
        assert procs.find_marked(f"{attempt}/{node}") == []


def test_a_kill_beyond_the_budget_ends_the_job_and_says_why(operator: httpx.Client, tmp_path: Path) -> None:
    job_id = launch_counting(operator, tmp_path, nproc_per_node=2, max_restarts=0, collective=True)
    seen = _wait_trained(operator, job_id, 1, round=1)
    assert kill(operator, seen, 0).status_code == 202
    ended = wait_job(operator, job_id, "the job to fail", state="failed")
    assert "Rank 0" in ended["state_reason"]
    assert "SIGKILL" in ended["state_reason"]
    assert ended["failure"]["rank"] == 0


@pytest.mark.parametrize("rank", [0])
def test_a_viewer_may_look_and_not_kill(
    operator: httpx.Client, viewer: httpx.Client, tmp_path: Path, rank: int
) -> None:
    job_id = launch_counting(operator, tmp_path, nodes=1, nnodes="1", nproc_per_node=1)
    seen = _wait_trained(operator, job_id, 1, round=1)
    assert job(viewer, job_id)["name"] == "counting"
    assert kill(viewer, seen, rank).status_code == 403
    assert viewer.post(f"/api/jobs/{job_id}/stop", json={}).status_code == 403
    assert job(operator, job_id)["restarts"]["failure"] == 0
    stop(operator, job_id)

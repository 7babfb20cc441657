"""Faults of every kind on a real job: forecast, closed only by evidence, and held against what happened."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents import procs
from tests.system.jobs import Json, job, launch_counting, stop, wait_command, wait_job, worker
from tests.waiting import wait_until

KILLS = int(os.environ.get("REGROUP_TEST_KILLS", "5"))
CUT_S = 20
"""Long enough to be seen while it lasts, on a busy machine too."""


@pytest.fixture(scope="module")
def training(operator: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """One job for all kinds: two nodes with two workers each, and budget enough."""
    folder = tmp_path_factory.mktemp("checkpoints")
    job_id = launch_counting(
        operator, folder, steps=1_000_000, nproc_per_node=2, max_restarts=100, collective=True
    )
    wait_job(operator, job_id, "the job to train", 90, state="training", round=1, world_size=4)
    yield job_id
    stop(operator, job_id)


def ask(api: httpx.Client, job_id: int, **body: Any) -> Json:
    answer = api.post(f"/api/jobs/{job_id}/faults", json=body)
    assert answer.status_code in (200, 202), answer.text
    found: Json = answer.json()
    return found


def told(api: httpx.Client, job_id: int, command: str) -> Json:
    items = api.get(f"/api/jobs/{job_id}/faults").json()["items"]
    return next(one for one in items if one["id"] == command)


def running(api: httpx.Client) -> list[str]:
    return [one["id"] for one in api.get("/api/faults").json()["items"]]


def wait_begun(api: httpx.Client, job_id: int, command: str) -> Json:
    def begun() -> Json | None:
        found = told(api, job_id, command)
        return found if found["begun_at"] else None

    return wait_until(begun, 30, f"fault {command} to take hold")


def other_node(seen: Json) -> str:
    """A node of the job that does not keep its store."""
    return str(next(m["node"] for m in seen["members"] if m["node"] != seen["store_host"] and m["round"]))


def wait_step(api: httpx.Client, job_id: int, steps: int) -> Json:
    """So many steps more are done."""
    first = job(api, job_id)["step"] or 0

    def has_come() -> Json | None:
        seen = job(api, job_id)
        return seen if seen["state"] == "training" and (seen["step"] or 0) >= first + steps else None

    return wait_until(has_come, 60, f"{steps} steps more")


def test_the_forecast_of_kills_is_held_against_what_happened(
    operator: httpx.Client, training: int, record_property: Callable[[str, object], None]
) -> None:
    errors: list[float] = []
    wrong_steps: list[int] = []
    for number in range(KILLS):
        wait_step(operator, training, 15)
        seen = wait_until(lambda: _with_checkpoint(operator, training), 30, "a checkpoint")
        rank = number % 4
        body = {"kind": "kill_worker", "rank": rank, "reason": "to hold the forecast against it"}
        forecast = ask(operator, training, **body, dry_run=True)["forecast"]
        assert (forecast["seconds"] is None) == (number == 0), forecast
        assert (forecast["world_size_after"], forecast["failure_restarts_after"]) == (4, number + 1)
        target = worker(seen, rank)
        command = ask(operator, training, **body)["id"]
        assert wait_command(operator, command)["evidence"]["pid"] == target["pid"]
        outcome = wait_until(partial(_whole, operator, training, command), 60, "the job to be back")
        assert (outcome["world_size"], outcome["failure_restarts"]) == (4, number + 1)
        assert outcome["round"] == seen["round"] + 1
        if outcome["error_s"] is not None:
            errors.append(abs(outcome["error_s"]))
        if outcome["steps_redone"] is not None and forecast["steps_redone"] is not None:
            wrong_steps.append(abs(outcome["steps_redone"] - forecast["steps_redone"]))
    says = (
        f"{KILLS} kills: seconds were forecast wrong by {statistics.median(errors):.2f} s (median), "
        f"{max(errors):.2f} s (most); steps redone by {statistics.median(wrong_steps):g} (median), "
        f"{max(wrong_steps)} (most)"
    )
    record_property("forecast", says)
    sys.stdout.write(f"\n{says}\n")
    assert len(errors) == KILLS - 1
    assert wrong_steps


def _with_checkpoint(api: httpx.Client, job_id: int) -> Json | None:
    seen = job(api, job_id)
    return seen if seen["checkpoint_step"] is not None else None


def _whole(api: httpx.Client, job_id: int, command: str) -> Json | None:
    outcome: Json | None = told(api, job_id, command)["outcome"]
    return outcome if outcome is not None and outcome["seconds"] is not None else None


def test_a_frozen_worker_stands_still_and_stop_all_lets_it_go_on(
    operator: httpx.Client, training: int
) -> None:
    seen = wait_step(operator, training, 1)
    pid = worker(seen, 3)["pid"]
    command = ask(operator, training, kind="freeze_worker", rank=3, seconds=300)["id"]
    wait_begun(operator, training, command)
    assert procs.state_of(pid) == "T"
    assert running(operator) == [command]
    stopped = operator.post("/api/faults/stop-all").json()
    assert [one["node"] for one in stopped["commands"]] == [worker(seen, 3)["node"]]
    assert wait_command(operator, stopped["commands"][0]["id"])["evidence"] == {"stopped": 1}
    assert wait_command(operator, command)["state"] == "done"
    assert procs.state_of(pid) != "T"
    assert running(operator) == []
    again = wait_step(operator, training, 5)
    assert again["round"] == seen["round"]
    outcome = told(operator, training, command)["outcome"]
    assert outcome["sentence"].startswith("Nothing restarted meanwhile")


def test_two_slowed_workers_are_let_go_by_themselves(operator: httpx.Client, training: int) -> None:
    seen = wait_step(operator, training, 1)
    commands = ask(operator, training, kind="slow_worker", ranks=[0, 2], share=0.3, seconds=3)["commands"]
    assert len(commands) == 2
    for command in commands:
        ended = wait_command(operator, command["id"], 30)
        assert ended["state"] == "done", ended["reason"]
        assert ended["evidence"]["turns"] > 1
    assert wait_step(operator, training, 5)["round"] == seen["round"]


def test_a_killed_agent_is_back_and_training_went_on(operator: httpx.Client, training: int) -> None:
    seen = wait_step(operator, training, 1)
    node = other_node(seen)
    command = ask(operator, training, kind="kill_agent", node=node, reason="to see it come back")["id"]
    ended = wait_command(operator, command, 60)
    assert ended["state"] == "done", ended["reason"]
    assert ended["evidence"]["adopted"] == 1
    again = wait_step(operator, training, 5)
    assert (again["round"], again["restarts"]) == (seen["round"], seen["restarts"])
    assert told(operator, training, command)["outcome"]["seconds"] == ended["evidence"]["back_after_s"]


def test_a_node_that_is_cut_off_is_not_heard_and_tells_afterwards(
    operator: httpx.Client, training: int
) -> None:
    seen = wait_step(operator, training, 1)
    node = other_node(seen)
    command = ask(operator, training, kind="cut_node", node=node, seconds=CUT_S)["id"]
    wait_begun(operator, training, command)

    def is_unheard() -> bool:
        nodes = operator.get("/api/nodes").json()["items"]
        return any(one["name"] == node and one["state"] != "online" for one in nodes)

    wait_until(is_unheard, 15, f"{node} to be unheard")
    says = operator.post("/api/faults/stop-all").json()
    assert says["commands"] == []
    assert f"{node} is cut off and cannot be told" in says["says"]
    ended = wait_command(operator, command, 60)
    assert ended["state"] == "done", ended["reason"]
    assert ended["evidence"]["healed_at"] - ended["evidence"]["cut_at"] == pytest.approx(CUT_S, abs=3)
    again = wait_step(operator, training, 5)
    assert (again["round"], again["restarts"]) == (seen["round"], seen["restarts"])


def test_a_killed_runner_comes_back_by_a_planned_membership_restart(
    operator: httpx.Client, training: int
) -> None:
    seen = wait_step(operator, training, 1)
    node = other_node(seen)
    command = ask(operator, training, kind="kill_runner", node=node, reason="to see it come back")["id"]
    ended = wait_command(operator, command, 30)
    assert ended["state"] == "done", ended["reason"]
    again = wait_job(operator, training, "the node to be back", 60, state="training", world_size=4)
    assert again["restarts"]["failure"] == seen["restarts"]["failure"]
    outcome = wait_until(lambda: _whole(operator, training, command), 60, "the job to be back")
    assert outcome["world_size"] == 4
    timeline = operator.get(f"/api/jobs/{training}/timeline").json()
    later = [one for one in timeline["rounds"] if one["number"] > seen["round"]]
    assert later
    assert all(one["cause"]["planned"] for one in later), [one["cause"] for one in later]
    marks = {mark["says"].split(" ", 2)[1] for mark in timeline["marks"] if mark["by"] == "olga"}
    assert marks == {"sent", "froze", "slowed", "killed", "cut"}


def test_a_job_with_a_frozen_worker_is_stopped(operator: httpx.Client, tmp_path: Path) -> None:
    job_id = launch_counting(operator, tmp_path, nodes=1, nnodes="1", nproc_per_node=1)
    seen = wait_job(operator, job_id, "the job to train", 90, state="training")
    command = ask(operator, job_id, kind="freeze_worker", rank=0, seconds=300)["id"]
    wait_begun(operator, job_id, command)
    stop(operator, job_id)
    assert wait_command(operator, command)["evidence"]["state_after"] == "gone"
    assert procs.start_time(worker(seen, 0)["pid"]) is None

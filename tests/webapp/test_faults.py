"""Killing a worker: exactly the one that was seen, or a refusal that says what runs instead."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db.models import QuerySet

from agents.wire.codec import read_command
from agents.wire.commands import KillWorker
from tests.webapp.api_client import Answer, Api
from tests.webapp.factories import add_round, make_job, make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet.models import Command
from webapp.jobs.models import Job, Worker


@pytest.fixture
def job(anna: Account) -> Job:
    """Four ranks on two nodes."""
    make_node("node-1")
    make_node("node-2")
    return make_running_job(anna, ["node-1", "node-2"])


def newest(job: Job, rank: int) -> Worker:
    return Worker.objects.filter(attempt__job=job, rank=rank).order_by("-round")[0]


def kills() -> QuerySet[Command]:
    return Command.objects.filter(kind="kill_worker")


def kill(who: Api, job: Job, rank: int, seen: Worker | None = None, **more: Any) -> Answer:
    body: dict[str, Any] = {"kind": "kill_worker", "rank": rank, "reason": "a look", **more}
    if seen is not None:
        body["if"] = {"round": seen.round, "pid": seen.pid, "attempt": seen.attempt_id}
    return who.post(f"/api/jobs/{job.id}/faults", body)


def test_a_kill_is_a_command_to_follow_with_who_and_why(operator: Api, job: Job) -> None:
    worker = newest(job, 3)
    answer = kill(operator, job, 3, worker)
    assert answer.status == 202
    assert (answer.body["kind"], answer.body["node"], answer.body["by"]) == ("kill_worker", "node-2", "anna")
    assert (answer.body["why"], answer.body["is_final"]) == ("a look", False)
    assert answer.body["asked"]["pid"] == worker.pid
    followed = operator.get(f"/api/commands/{answer.body['id']}")
    assert followed.body["id"] == answer.body["id"]
    listed = operator.get(f"/api/jobs/{job.id}/commands").body["items"]
    assert listed[0]["id"] == answer.body["id"]
    assert {command["kind"] for command in listed[1:]} == {"start_runner"}


def test_several_workers_are_a_command_each_and_all_of_them_are_checked_first(
    operator: Api, job: Job
) -> None:
    body: dict[str, Any] = {"kind": "kill_worker", "ranks": [3, 1]}
    answer = operator.post(f"/api/jobs/{job.id}/faults", body)
    assert answer.status == 202
    assert [command["asked"]["rank"] for command in answer.body["commands"]] == [1, 3]
    seen = [{"rank": rank, "round": 1, "pid": newest(job, rank).pid} for rank in (0, 1)]
    seen[1]["pid"] = 1
    late = operator.post(f"/api/jobs/{job.id}/faults", {**body, "ranks": [0, 1], "if": seen})
    assert (late.status, late.body["reason"]) == (409, "worker_replaced")
    assert kills().count() == 2


def test_the_node_is_told_the_very_process(operator: Api, job: Job) -> None:
    kill(operator, job, 1, signal="SIGTERM")
    worker = newest(job, 1)
    command = read_command(json.dumps(kills().get().body))
    assert isinstance(command, KillWorker)
    assert (command.rank, command.round, command.pid) == (1, 1, worker.pid)
    assert (command.start_time, command.signal) == (worker.start_time, "SIGTERM")


def test_a_late_click_is_refused_and_told_what_runs_now(operator: Api, job: Job) -> None:
    seen = newest(job, 3)
    add_round(seen.attempt, ["node-1", "node-2"])
    now = newest(job, 3)
    answer = kill(operator, job, 3, seen)
    assert (answer.status, answer.body["reason"]) == (409, "worker_replaced")
    assert answer.body["what"] == (
        f"Rank 3 of round 1 (pid {seen.pid}) has been replaced: round 2 runs it as pid {now.pid} on node-2. "
        "Nothing was signalled."
    )
    assert not kills().exists()


def test_a_click_on_an_older_attempt_is_refused(operator: Api, job: Job) -> None:
    worker = newest(job, 0)
    body = {"kind": "kill_worker", "rank": 0, "if": {"round": 1, "pid": worker.pid, "attempt": "j0-a1-old"}}
    assert operator.post(f"/api/jobs/{job.id}/faults", body).body["reason"] == "worker_replaced"


def test_a_worker_that_has_ended_is_not_killed_again(operator: Api, job: Job) -> None:
    worker = newest(job, 2)
    Worker.objects.filter(pk=worker.pk).update(ended_at=worker.started_at, said="was killed (SIGKILL)")
    answer = kill(operator, job, 2, worker)
    assert (answer.status, answer.body["reason"]) == (409, "worker_gone")
    assert "has already ended: it was killed (SIGKILL)." in answer.body["what"]


def test_without_a_condition_the_worker_that_runs_now_is_meant(operator: Api, job: Job) -> None:
    add_round(newest(job, 0).attempt, ["node-1", "node-2"])
    answer = kill(operator, job, 0)
    assert (answer.status, answer.body["asked"]["round"]) == (202, 2)


def test_unknown_ranks_and_signals_are_refused(operator: Api, job: Job) -> None:
    assert kill(operator, job, 9).body["reason"] == "no_such_rank"
    answer = kill(operator, job, 0, signal="SIGUSR1")
    assert (answer.status, answer.body["where"]) == (422, "signal")
    assert "SIGSTOP" in answer.body["what_to_do"]


def test_between_two_attempts_there_is_no_worker_to_kill(operator: Api, job: Job) -> None:
    seen = newest(job, 0)
    job.attempts.update(ended_at=seen.started_at)
    Job.objects.update(state="queued")
    answer = kill(operator, job, 0, seen)
    assert (answer.status, answer.body["reason"]) == (409, "job_not_running")
    assert "Attempt 1 of job" in answer.body["what"]
    assert not kills().exists()


@pytest.mark.parametrize("state", ["queued", "succeeded", "failed", "stopped"])
def test_a_job_that_does_not_run_has_no_worker_to_kill(operator: Api, anna: Account, state: str) -> None:
    answer = kill(operator, make_job(anna, state=state), 0)
    assert (answer.status, answer.body["reason"]) == (409, "job_not_running")

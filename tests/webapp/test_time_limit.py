"""A job's limit of time: told beforehand, kept over its attempts, and after its end the job is stopped."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest
from django.db.models import F
from django.utils import timezone

from agents.wire.lifecycle import Phase, RunnerState, WorkerState
from agents.wire.runner_events import WorkerRef
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet.models import Command
from webapp.jobs.apply import restand
from webapp.jobs.folded import state_to_dict
from webapp.jobs.models import Attempt, Job, Member
from webapp.jobs.tasks import reconcile
from webapp.jobs.time_limit import Lasted, is_up_at, used_s

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
REF = WorkerRef(rank=0, local_rank=0, pid=1, start_time=1)


@pytest.fixture
def job(anna: Account) -> Job:
    """Of two hours. It has run for as long as the test says."""
    make_node("node-1")
    return make_running_job(anna, ["node-1"], time_limit="2h", shutdown_timeout=12.0)


def run_for(job: Job, lasted: timedelta) -> None:
    Attempt.objects.filter(job=job, ended_at=None).update(created_at=timezone.now() - lasted)


def earlier_attempt(job: Job, lasted: timedelta) -> None:
    """One that was over long before the one that runs."""
    began = timezone.now() - timedelta(days=2)
    job.attempts.update(number=F("number") + 1)
    Attempt.objects.create(id="before", job=job, number=1, created_at=began, ended_at=began + lasted)


def end_members(job: Job, outcome: Literal["failed", "stopped"], reason: str = "") -> None:
    worker = WorkerState(REF, "stopped")
    state = RunnerState(
        phase=Phase.ENDED, outcome=outcome, round=1, world_size=1, workers=(worker,), reason=reason
    )
    members = Member.objects.filter(attempt__job=job)
    members.update(folded=state_to_dict(state), phase="ended", settled_at=timezone.now())


def limit(who: Api, job: Job) -> Any:
    return who.get(f"/api/jobs/{job.id}").body["time_limit"]


# -- what counts --


def test_attempts_count_from_their_placing_on_and_the_queue_does_not() -> None:
    over = Lasted(NOON, NOON + HOUR)
    runs = Lasted(NOON + 5 * HOUR)
    assert used_s([over, runs], NOON + 6 * HOUR) == 7200
    assert is_up_at(3 * 3600, [over, runs]) == NOON + 7 * HOUR
    assert is_up_at(3 * 3600, [over]) is None
    assert is_up_at(3 * 3600, []) is None


# -- at its end --


def test_a_job_is_stopped_with_its_grace_once_its_time_is_over(job: Job) -> None:
    run_for(job, 2 * HOUR - timedelta(minutes=5))
    reconcile()
    assert not Command.objects.filter(kind="stop_runner").exists()
    run_for(job, 2 * HOUR)
    reconcile()
    job.refresh_from_db()
    assert (job.state, job.wanted, job.stopped_by) == ("stopping", "stop", None)
    assert job.state_reason.startswith(
        "Being stopped, as its time limit of 2 h is over: the workers on node-1 got SIGTERM and have until "
    )
    command = Command.objects.get(kind="stop_runner")
    assert (command.why, command.body["grace_s"]) == ("its time limit of 2 h is over", 12.0)
    reconcile()
    assert Command.objects.filter(kind="stop_runner").count() == 1


def test_what_is_left_of_it_in_the_end_says_why(job: Job) -> None:
    run_for(job, 3 * HOUR)
    reconcile()
    end_members(job, "stopped")
    restand(job.pk)
    job.refresh_from_db()
    assert (job.state, job.state_reason) == ("stopped", "Stopped: its time limit of 2 h is over.")


def test_earlier_attempts_have_used_some_of_it(job: Job) -> None:
    earlier_attempt(job, 1.5 * HOUR)
    run_for(job, 0.4 * HOUR)
    reconcile()
    assert not Command.objects.filter(kind="stop_runner").exists()
    run_for(job, 0.6 * HOUR)
    reconcile()
    assert Command.objects.filter(kind="stop_runner").count() == 1


def test_a_job_that_has_just_ended_by_itself_is_not_stopped(job: Job) -> None:
    run_for(job, 3 * HOUR)
    end_members(job, "failed", reason="Rank 0 was killed.")
    reconcile()
    job.refresh_from_db()
    assert (job.state, job.wanted, job.state_reason) == ("failed", "run", "Rank 0 was killed.")


def test_without_a_limit_or_in_the_queue_nobody_is_stopped(anna: Account) -> None:
    make_node("node-1", slots=4)
    free = make_running_job(anna, ["node-1"])
    run_for(free, timedelta(days=300))
    queued = make_job(anna, "waits", time_limit="1s", nnodes="3")
    Job.objects.filter(pk=queued.pk).update(created_at=timezone.now() - HOUR)
    reconcile()
    assert set(Job.objects.values_list("wanted", flat=True)) == {"run"}


# -- beforehand --


def test_it_is_told_when_it_is_up_and_how_much_is_left(operator: Api, job: Job) -> None:
    run_for(job, HOUR)
    told = limit(operator, job)
    assert told["limit_s"] == 7200
    assert 3000 < told["left_s"] <= 3600
    up_at = job.attempts.get().created_at + 2 * HOUR
    assert abs(datetime.fromisoformat(told["is_up_at"]) - up_at) < timedelta(seconds=0.01)
    assert told["is_too_short"] is False


def test_between_attempts_its_time_stands_still(operator: Api, job: Job) -> None:
    began = timezone.now() - 9 * HOUR
    job.attempts.update(created_at=began, ended_at=began + HOUR)
    Job.objects.update(state="queued")
    assert (limit(operator, job)["left_s"], limit(operator, job)["is_up_at"]) == (3600, None)


def test_a_job_that_needs_longer_than_it_has_is_told_so(operator: Api, job: Job) -> None:
    run_for(job, HOUR)
    state = RunnerState(
        phase=Phase.UP,
        round=1,
        world_size=1,
        workers=(WorkerState(REF, step=100, total=10_000),),
        recent_pace=1.0,
        paced_s=60.0,
    )
    Member.objects.update(folded=state_to_dict(state))
    assert limit(operator, job)["is_too_short"] is True
    Member.objects.update(folded=state_to_dict(replace(state, recent_pace=1000.0)))
    assert limit(operator, job)["is_too_short"] is False


# -- in a launch --


@pytest.mark.parametrize(("written", "stored", "shown"), [("2h", "2h", "2 h"), (5400, "5400", "1 h 30 min")])
def test_it_is_kept_as_it_was_written_and_told_in_the_launch(
    operator: Api, written: object, stored: str, shown: str
) -> None:
    body = {"script": "/data/train.py", "time_limit": written}
    job = operator.post("/api/jobs", body).body
    assert (job["spec"]["time_limit"], job["time_limit"]["is_up_at"]) == (stored, None)
    looked = operator.post("/api/jobs/check", body).body
    assert looked["sentence"].endswith(f"is stopped after {shown}.")
    assert {one["name"]: one["value"] for one in looked["effective"]}["time_limit"] == shown


@pytest.mark.parametrize("written", ["30:00", "0", "soon", True, -5])
def test_what_cannot_be_read_is_refused_at_the_field(operator: Api, written: object) -> None:
    answer = operator.post("/api/jobs", {"script": "/data/train.py", "time_limit": written})
    assert (answer.status, answer.body["faults"][0]["where"]) == (422, "time_limit")
    assert not Job.objects.exists()


def test_a_job_without_one_tells_of_none(operator: Api) -> None:
    job = operator.post("/api/jobs", {"script": "/data/train.py"}).body
    assert (job["spec"]["time_limit"], job["time_limit"]) == (None, None)

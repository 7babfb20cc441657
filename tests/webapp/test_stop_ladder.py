"""The ladder of a stop: until when the workers have time, and the step that gives them none."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db.models import QuerySet

from tests.webapp.api_client import Api
from tests.webapp.factories import make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet.models import Command
from webapp.jobs.models import Job
from webapp.jobs.tasks import reconcile


@pytest.fixture
def job(anna: Account) -> Job:
    make_node("node-1")
    make_node("node-2")
    return make_running_job(anna, ["node-1", "node-2"], shutdown_timeout=12.0)


def stops() -> QuerySet[Command]:
    return Command.objects.filter(kind="stop_runner").order_by("created_at")


def graces() -> list[float]:
    return [command.body["grace_s"] for command in stops()]


def test_a_stop_says_until_when_the_workers_have_time(operator: Api, job: Job) -> None:
    assert operator.get(f"/api/jobs/{job.id}").body["stop_deadline"] is None
    body = operator.post(f"/api/jobs/{job.id}/stop", {}).body
    last = stops().last()
    assert last is not None
    assert datetime.fromisoformat(body["stop_deadline"]) == pytest.approx(
        last.created_at + timedelta(seconds=12), abs=timedelta(milliseconds=1)
    )
    assert not body["stop_forced"]
    until = f"{last.created_at + timedelta(seconds=12):%H:%M:%S} UTC"
    assert body["state_reason"] == (
        "Being stopped by anna: the workers on node-1 and node-2 got SIGTERM and have until "
        f"{until}; then they are killed (SIGKILL)."
    )


def test_the_sentence_of_a_stop_stays_as_it_is_while_it_is_true(operator: Api, job: Job) -> None:
    said = operator.post(f"/api/jobs/{job.id}/stop", {}).body["state_reason"]
    reconcile()
    assert operator.get(f"/api/jobs/{job.id}").body["state_reason"] == said


def test_a_forced_stop_is_sent_although_one_is_being_waited_out(operator: Api, job: Job) -> None:
    first = operator.post(f"/api/jobs/{job.id}/stop", {"reason": "enough"}).body
    body = operator.post(f"/api/jobs/{job.id}/stop", {"reason": "now", "force": True}).body
    assert (body["stop_forced"], body["stop_reason"], body["state"]) == (True, "enough", "stopping")
    assert body["stop_deadline"] < first["stop_deadline"]
    assert graces() == [12.0, 12.0, 0.0, 0.0]
    assert sorted((c.node, c.why) for c in stops() if c.body["grace_s"] == 0) == [
        ("node-1", "now"),
        ("node-2", "now"),
    ]
    assert "are being killed (SIGKILL)" in body["state_reason"]


def test_forcing_twice_changes_nothing(operator: Api, job: Job) -> None:
    operator.post(f"/api/jobs/{job.id}/stop", {"force": True})
    operator.post(f"/api/jobs/{job.id}/stop", {"force": True})
    assert graces() == [0.0, 0.0]


def test_a_forced_stop_stays_forced_when_nodes_are_asked_again(operator: Api, job: Job) -> None:
    operator.post(f"/api/jobs/{job.id}/stop", {"force": True})
    stops().update(state="undelivered")
    assert reconcile() == 2
    assert graces() == [0.0] * 4


def test_a_job_that_is_over_has_no_deadline(operator: Api, job: Job) -> None:
    operator.post(f"/api/jobs/{job.id}/stop", {})
    Job.objects.update(state="stopped")
    body = operator.post(f"/api/jobs/{job.id}/stop", {"force": True}).body
    assert (body["stop_deadline"], len(graces())) == (None, 2)


def test_a_viewer_forces_nothing(viewer: Api, job: Job) -> None:
    assert viewer.post(f"/api/jobs/{job.id}/stop", {"force": True}).status == 403
    assert graces() == []

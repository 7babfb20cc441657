"""Stopping jobs: one by a person, all of them by the stack, and what reconciling ends."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models import QuerySet
from django.utils import timezone

from agents.wire.lifecycle import Phase, RunnerState
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet.models import Command, Node
from webapp.jobs.folded import state_to_dict
from webapp.jobs.models import Job, Member
from webapp.jobs.tasks import place_queued, reconcile


@pytest.fixture
def job(anna: Account) -> Job:
    make_node("node-1")
    make_node("node-2")
    return make_running_job(anna, ["node-1", "node-2"], shutdown_timeout=12.0)


def stops() -> QuerySet[Command]:
    return Command.objects.filter(kind="stop_runner")


def test_a_stop_is_stopping_until_the_nodes_say_that_it_is_over(operator: Api, job: Job) -> None:
    answer = operator.post(f"/api/jobs/{job.id}/stop", {"reason": "enough"})
    assert answer.status == 200
    body = answer.body
    assert (body["state"], body["stopped_by"], body["stop_reason"]) == ("stopping", "anna", "enough")
    commands = stops().order_by("node")
    assert [(c.kind, c.node, c.why) for c in commands] == [
        ("stop_runner", "node-1", "enough"),
        ("stop_runner", "node-2", "enough"),
    ]
    assert commands[0].body["grace_s"] == 12.0


def test_a_second_stop_changes_nothing(operator: Api, job: Job) -> None:
    operator.post(f"/api/jobs/{job.id}/stop", {"reason": "enough"})
    again = operator.post(f"/api/jobs/{job.id}/stop", {"reason": "more than enough"})
    assert (again.status, again.body["stop_reason"]) == (200, "enough")
    assert stops().count() == 2


def test_a_queued_job_is_stopped_at_once_and_never_placed(operator: Api, anna: Account) -> None:
    make_node("node-1")
    queued = make_job(anna)
    assert operator.post(f"/api/jobs/{queued.id}/stop").body["state"] == "stopped"
    assert place_queued() == 0


def test_a_job_that_has_ended_cannot_be_stopped(operator: Api, anna: Account) -> None:
    answer = operator.post(f"/api/jobs/{make_job(anna, state='succeeded').id}/stop", {})
    assert (answer.status, answer.body["reason"]) == (409, "job_ended")
    assert "it is succeeded" in answer.body["what"]


def test_reconciling_asks_again_once_a_silent_node_is_heard(operator: Api, job: Job) -> None:
    operator.post(f"/api/jobs/{job.id}/stop", {})
    assert reconcile() == 0
    stops().update(state="undelivered")
    Node.objects.filter(name="node-1").update(state="lost")
    assert reconcile() == 1
    assert stops().filter(node="node-2").count() == 2
    Node.objects.filter(name="node-1").update(state="online")
    assert reconcile() == 1
    assert reconcile() == 0


def test_reconciling_ends_what_runs_on_after_another_node_has_failed(job: Job) -> None:
    failed = RunnerState(phase=Phase.ENDED, outcome="failed", reason="The budget is spent.")
    Member.objects.filter(node="node-1").update(
        folded=state_to_dict(failed), phase="ended", settled_at=timezone.now()
    )
    assert reconcile() == 1
    assert stops().get().node == "node-2"


def test_stop_jobs_stops_all_with_the_reason_and_says_one_line_each(anna: Account) -> None:
    make_job(anna, "one")
    make_job(anna, "two")
    make_job(anna, "done", state="succeeded")
    out = StringIO()
    call_command("stop_jobs", "--reason", "make run was ended", "--timeout", "5", stdout=out)
    lines = out.getvalue().splitlines()
    assert [line.split(":")[0].split()[2] for line in lines] == ["one", "two"]
    assert all("stopped" in line for line in lines)
    assert set(Job.objects.filter(name__in=["one", "two"]).values_list("stop_reason", flat=True)) == {
        "make run was ended"
    }


def test_stop_jobs_shortens_the_grace_and_fails_when_the_time_is_up(job: Job) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("stop_jobs", "--timeout", "0.2", stdout=StringIO())
    assert ended.value.code == 1
    assert {command.body["grace_s"] for command in stops()} == {0.1}

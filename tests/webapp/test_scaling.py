"""Asking for another number of nodes: what is refused, what is wanted at once, who comes or goes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import QuerySet

from tests.webapp.api_client import Answer, Api
from tests.webapp.factories import make_job, make_node, make_running_job, wanting
from webapp.accounts.models import Account
from webapp.fleet.models import Command
from webapp.jobs.models import Job
from webapp.jobs.tasks import place_queued


@pytest.fixture
def job(anna: Account) -> Job:
    """On one of three nodes."""
    for name in ("node-1", "node-2", "node-3"):
        make_node(name)
    return wanting(make_running_job(anna, ["node-1"], nnodes="1:3"), 1)


@pytest.fixture
def wide_job(anna: Account) -> Job:
    """On three nodes of which node-2 keeps the store."""
    for name in ("node-1", "node-2", "node-3"):
        make_node(name)
    job = make_running_job(anna, ["node-1", "node-2", "node-3"], nnodes="1:3", shutdown_timeout=7.0)
    job.attempts.update(store_host="node-2")
    return job


def scale(who: Api, job: Job, nodes: int, reason: str = "") -> Answer:
    return who.post(f"/api/jobs/{job.id}/scale", {"nodes": nodes, "reason": reason})


def told(kind: str) -> QuerySet[Command]:
    return Command.objects.filter(kind=kind, body__kind=kind)


def test_more_nodes_are_wanted_at_once_and_started(operator: Api, job: Job) -> None:
    answer = scale(operator, job, 3, "more data")
    assert answer.status == 202
    assert answer.body["nodes"] == {"min": 1, "max": 3, "wanted": 3, "formed": 1, "alive": 1}
    assert answer.body["scaling"]["why"] == "scaled up from 1 to 3 nodes by anna: more data"
    assert sorted(c.node for c in told("start_runner")) == ["node-2", "node-3"]
    assert {member["node"] for member in answer.body["members"]} == {"node-1", "node-2", "node-3"}


def test_fewer_nodes_let_others_go_than_the_one_that_keeps_the_store(operator: Api, wide_job: Job) -> None:
    answer = scale(operator, wide_job, 1, "it is night")
    assert answer.body["nodes"]["wanted"] == 1
    commands = told("leave_runner").order_by("node")
    assert [c.node for c in commands] == ["node-1", "node-3"]
    assert {c.why for c in commands} == {"scaled down from 3 to 1 node by anna: it is night"}
    assert {c.body["grace_s"] for c in commands} == {7.0}
    leaving = {m["node"]: m["leaves_why"] for m in answer.body["members"] if m["leaves_at"]}
    assert leaving == dict.fromkeys(["node-1", "node-3"], "scaled down from 3 to 1 node by anna: it is night")


def test_the_same_number_again_changes_nothing(operator: Api, job: Job) -> None:
    scale(operator, job, 2)
    version = Job.objects.get().version
    answer = scale(operator, job, 2, "once more")
    assert (answer.status, answer.body["version"]) == (202, version)
    assert "once more" not in answer.body["scaling"]["why"]
    assert told("start_runner").count() == 1


def test_a_number_outside_of_the_range_is_refused_with_the_range(operator: Api, job: Job) -> None:
    for nodes in (0, 4, -1):
        answer = scale(operator, job, nodes)
        assert (answer.status, answer.body["where"]) == (422, "nodes")
        assert "runs on 1 to 3 nodes" in answer.body["what"]
    assert Job.objects.get().wanted_nodes == 1


def test_a_job_with_a_fixed_number_says_so(operator: Api, anna: Account) -> None:
    make_node("node-1")
    job = make_running_job(anna, ["node-1"])
    answer = scale(operator, job, 2)
    assert (answer.status, answer.body["where"]) == (422, "nodes")
    assert "runs on exactly 1 node" in answer.body["what"]
    assert operator.get(f"/api/jobs/{job.id}").body["scaling"]["fixed"] == (
        "nnodes is 1, so that the number of nodes is fixed."
    )


@pytest.mark.parametrize(
    ("spec", "state", "why"),
    [
        ({"standalone": True}, "running", "is standalone"),
        ({"rdzv_backend": "static"}, "running", "static backend"),
        ({}, "succeeded", "has ended: it is succeeded"),
        ({}, "failed", "has ended: it is failed"),
    ],
)
def test_jobs_that_cannot_be_scaled_say_why(
    operator: Api, anna: Account, spec: dict[str, Any], state: str, why: str
) -> None:
    job = make_job(anna, state=state, nnodes="1:2", **spec)
    answer = scale(operator, job, 2)
    assert (answer.status, answer.body["reason"]) == (409, "not_scalable")
    assert why in answer.body["what"]
    assert why in operator.get(f"/api/jobs/{job.id}").body["scaling"]["fixed"]


def test_a_job_that_is_being_stopped_is_not_scaled(operator: Api, job: Job) -> None:
    operator.post(f"/api/jobs/{job.id}/stop", {})
    answer = scale(operator, job, 2)
    assert answer.status == 409
    assert "is being stopped" in answer.body["what"]


def test_a_queued_job_is_placed_with_the_number_that_was_asked_for_last(operator: Api, anna: Account) -> None:
    for name in ("node-1", "node-2"):
        make_node(name)
    job = make_job(anna, nnodes="1:2", nodes=1, nproc_per_node=2)
    assert scale(operator, job, 2).body["state"] == "queued"
    assert place_queued() == 1
    assert operator.get(f"/api/jobs/{job.id}").body["nodes"]["wanted"] == 2
    assert Job.objects.get().attempts.get().members.count() == 2


def test_who_asked_and_why_stands_among_the_events(operator: Api, job: Job) -> None:
    before = operator.get(f"/api/jobs/{job.id}").body["last_event"]
    scale(operator, job, 2, "more data")
    scale(operator, job, 3)
    events = operator.get(f"/api/jobs/{job.id}/events").body["items"]
    assert [(event["kind"], event["says"]) for event in events] == [
        ("scale_asked", "anna asked for 2 nodes instead of 1: more data."),
        ("scale_asked", "anna asked for 3 nodes instead of 2."),
    ]
    assert [event["seq"] for event in events] == [1, 2]
    assert operator.get(f"/api/jobs/{job.id}").body["last_event"] > before


def test_a_viewer_scales_nothing(viewer: Api, job: Job) -> None:
    assert (scale(viewer, job, 2).status, Job.objects.get().nodes_wanted) == (403, None)

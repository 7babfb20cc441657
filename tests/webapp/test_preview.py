"""Before and while a job waits: where it would run, what stands in the way, and whose turn it is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet.models import Node
from webapp.jobs.apply import restand
from webapp.jobs.models import Attempt, Job, Member
from webapp.jobs.tasks import place_queued

SCRIPT = {"script": "/data/train.py"}


def preview(who: Api, **job: Any) -> dict[str, Any]:
    answer = who.post("/api/jobs/preview", {**SCRIPT, **job})
    assert answer.status == 200, answer.body
    told: dict[str, Any] = answer.body
    return told


def placed() -> dict[str, list[str]]:
    """The nodes of each job that was given any."""
    members = Member.objects.order_by("node").values_list("attempt__job__name", "node")
    return {name: [node for job, node in members if job == name] for name, _ in members}


def reason(job: Job) -> str:
    job.refresh_from_db()
    return job.state_reason


def test_it_says_on_which_nodes_a_job_would_run_and_launches_nothing(operator: Api) -> None:
    make_node("node-1", slots=2)
    make_node("node-2", slots=4)
    told = preview(operator, nnodes="1:4", nproc_per_node=2)
    assert told["runs_on"] == [{"node": "node-2", "slots": 2}, {"node": "node-1", "slots": 2}]
    assert told["says"] == (
        "It would start now on 2 nodes: node-2 (2 slots) and node-1 (2 slots). "
        "It grows up to 4 as slots become free."
    )
    assert (told["place"], told["waiting"], told["in_the_way"]) == (None, 0, [])
    assert not Job.objects.exists()


def test_it_says_what_stands_in_the_way_and_the_place_in_the_queue(operator: Api, anna: Account) -> None:
    make_node("node-1", slots=2)
    make_node("node-2", slots=2, silent_s=5)
    make_running_job(anna, ["node-1"], name="holder")
    make_job(anna, "waits", nproc_per_node=2)
    told = preview(operator, nnodes="2", nproc_per_node=2)
    held = Job.objects.get(name="holder")
    assert told["runs_on"] == []
    assert told["says"].startswith("It would wait: needs 2 nodes with 2 free slots each; none is ready: ")
    assert told["says"].endswith(f"It is 2nd of 2 in the queue, behind job {held.id + 1} waits.")
    assert told["in_the_way"] == [
        f"node-1 has 0 of 2 free (held by job {held.id} holder).",
        "node-2 is not heard.",
    ]
    assert (told["place"], told["waiting"]) == (2, 2)


def test_what_a_launch_would_refuse_a_preview_refuses_too(operator: Api) -> None:
    make_node("node-1", slots=2)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"nproc_per_node": 3}, "nproc_per_node"),
        ({"node_names": ["node-9"]}, "node_names"),
        ({"node_names": ["node-1"], "nnodes": "2"}, "node_names"),
        ({"priority": 101}, "priority"),
        ({"placement": "heap"}, "placement"),
    ]
    for job, field in refused:
        for path in ("/api/jobs/preview", "/api/jobs"):
            answer = operator.post(path, {**SCRIPT, **job})
            assert (answer.status, answer.body["where"]) == (422, field), answer.body


def test_of_two_that_wait_the_one_with_the_higher_priority_starts_first(operator: Api, anna: Account) -> None:
    make_node("node-1", slots=2)
    holder = make_running_job(anna, ["node-1"], name="holder")
    for name, priority in [("first", 0), ("urgent", 5)]:
        operator.post("/api/jobs", {**SCRIPT, "name": name, "nproc_per_node": 2, "priority": priority})
    assert place_queued() == 0
    first, urgent = Job.objects.get(name="first"), Job.objects.get(name="urgent")
    assert reason(urgent).endswith("It is 1st of 2 in the queue.")
    assert reason(first).endswith(f"It is 2nd of 2 in the queue, behind job {urgent.id} urgent.")
    Member.objects.filter(attempt__job=holder).update(settled_at=timezone.now())
    assert place_queued() == 1
    assert placed()["urgent"] == ["node-1"]
    assert "held by" in reason(first)


def test_small_jobs_do_not_keep_a_large_one_waiting(operator: Api, anna: Account) -> None:
    make_node("node-1", slots=2)
    make_node("node-2", slots=2)
    make_running_job(anna, ["node-1"], name="holder")
    large = make_job(anna, "large", nnodes="2", nproc_per_node=2)
    small = make_job(anna, "small")
    assert place_queued() == 0
    assert f"node-2 has 2 of 2 free, kept for job {large.id} large" in reason(small)
    make_node("node-3", slots=1)
    assert place_queued() == 1
    assert placed()["small"] == ["node-3"]


def test_a_job_gets_only_nodes_with_its_labels_names_and_gpus(operator: Api, anna: Account) -> None:
    gpu = {"index": 0, "name": "NVIDIA H100 80GB", "memory_bytes": 1}
    make_node("node-1", slots=8, labels={"zone": "a"})
    make_node("node-2", slots=2, labels={"zone": "b"}, gpus=[gpu])
    body = operator.post("/api/jobs", {**SCRIPT, "name": "zone", "nodes_selector": {"zone": "b"}}).body
    assert body["placing"]["nodes_selector"] == {"zone": "b"}
    operator.post("/api/jobs", {**SCRIPT, "name": "named", "node_names": ["node-2"]})
    waits = operator.post(
        "/api/jobs", {**SCRIPT, "name": "gpus", "gpu_model": "h100", "gpus_per_node": 2}
    ).body
    assert place_queued() == 2
    assert placed() == {"zone": ["node-2"], "named": ["node-2"]}
    why = reason(Job.objects.get(pk=waits["id"]))
    assert "node-2 has 1 h100 GPU, and 2 are asked for" in why


def test_nobody_uses_more_slots_or_runs_more_jobs_than_one_may(
    operator: Api, anna: Account, vera: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_node("node-1", slots=8)
    monkeypatch.setattr(settings, "USER_SLOTS", 4)
    answer = operator.post("/api/jobs", {**SCRIPT, "nproc_per_node": 6})
    assert (answer.status, answer.body["where"]) == (422, "nnodes")
    assert "anna may use 4 at a time" in answer.body["what"]
    first = make_job(anna, "first", nproc_per_node=3)
    second = make_job(anna, "second", nproc_per_node=3)
    make_job(vera, "hers", nproc_per_node=3)
    assert place_queued() == 2
    assert set(placed()) == {"first", "hers"}
    assert reason(second).startswith(
        "Queued: anna uses 3 slots, of 4 at a time, and this job needs 3 at least."
    )
    monkeypatch.setattr(settings, "USER_SLOTS", 0)
    monkeypatch.setattr(settings, "USER_JOBS", 1)
    place_queued()
    assert reason(second).startswith("Queued: anna has 1 job running, of 1 at a time.")
    Member.objects.filter(attempt__job=first).update(settled_at=timezone.now())
    assert place_queued() == 1
    assert set(placed()) == {"first", "hers", "second"}


def test_an_elastic_job_grows_within_what_its_owner_may_use(
    anna: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "USER_SLOTS", 4)
    for name in ("node-1", "node-2", "node-3"):
        make_node(name, slots=2)
    job = make_running_job(anna, ["node-1"], nnodes="1:3")
    restand(job.id)
    assert set(job.attempts.get().members.values_list("node", flat=True)) == {"node-1", "node-2"}
    monkeypatch.setattr(settings, "USER_SLOTS", 0)
    restand(job.id)
    assert job.attempts.get().members.count() == 3


def test_slots_of_a_node_that_was_lost_are_not_given_out_before_its_processes_are_known_to_be_gone(
    anna: Account,
) -> None:
    make_node("node-1", slots=2, silent_s=60)
    job = make_running_job(anna, ["node-1"], name="was-there")
    Attempt.objects.filter(job=job).update(ended_at=timezone.now(), is_infrastructure=True)
    Job.objects.filter(pk=job.pk).update(state="failed", ended_at=timezone.now())
    waits = make_job(anna, "waits", nproc_per_node=2)
    assert place_queued() == 0
    assert "node-1 is not heard" in reason(waits)
    # It is back, and has not said yet what became of what ran there.
    Node.objects.update(last_heard_at=timezone.now() + timedelta(minutes=1))
    assert place_queued() == 0
    assert f"node-1 has 0 of 2 free (held by job {job.id} was-there)" in reason(waits)
    Member.objects.filter(attempt__job=job).update(settled_at=timezone.now())
    assert place_queued() == 1


def test_one_node_is_shared_by_several_jobs_each_with_its_own_id_and_a_port_that_its_node_picks(
    anna: Account,
) -> None:
    make_node("node-1", slots=4)
    for name in ("one", "two"):
        make_job(anna, name, nproc_per_node=2)
    assert place_queued() == 2
    attempts = list(Attempt.objects.filter(members__node="node-1"))
    assert len({attempt.id for attempt in attempts}) == 2
    assert [attempt.endpoint for attempt in attempts] == ["", ""]

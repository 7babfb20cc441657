"""Troubles as a person sees them: from records of runners, through ingest, in the answer about the job."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents.wire.runner_events import RendezvousBegun, RendezvousJoined, WorkerError
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node
from tests.webapp.journals import RunnerJournal, entries
from webapp.accounts.models import Account
from webapp.fleet.models import Node
from webapp.ingest.batch import take_batch
from webapp.jobs.apply import restand_or_log
from webapp.jobs.launch import start_members
from webapp.jobs.models import Attempt, Job, Member
from webapp.jobs.troubles_facts import troubles_out, worker_ends

pytestmark = pytest.mark.django_db

ATTEMPT, NODES = "j1-a1-test", ("node-1", "node-2")


def launched(anna: Account, **spec: Any) -> Job:
    for name in NODES:
        make_node(name)
    job = make_job(anna, state="waiting", nnodes="2", nproc_per_node=2, **spec)
    attempt = Attempt.objects.create(
        id=ATTEMPT,
        job=job,
        number=1,
        store_host="node-1",
        endpoint="127.0.0.1:29400",
        created_at=job.created_at,
    )
    Member.objects.bulk_create(Member(attempt=attempt, node=name, slots=2) for name in NODES)
    start_members(attempt)
    return job


def up() -> list[RunnerJournal]:
    now = timezone.now() - timedelta(seconds=20)
    return [RunnerJournal(ATTEMPT, node, NODES, began=now).start().form().come_up() for node in NODES]


def take(*journals: RunnerJournal) -> None:
    for journal in journals:
        take_batch(entries(journal.events))


def told(who: Api, job: Job) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = who.get(f"/api/jobs/{job.id}").body["troubles"]
    return found


def test_a_job_that_trains_has_no_trouble(operator: Api, anna: Account) -> None:
    job = launched(anna)
    take(*[journal.progress(5) for journal in up()])
    assert told(operator, job) == []


def test_a_fixed_job_that_waits_for_a_lost_node_is_told_what_would_help(operator: Api, anna: Account) -> None:
    job = launched(anna, max_restarts=3)
    first, second = up()
    first.restart("membership", counter=0).add(RendezvousBegun, cause="membership", previous_round=1)
    first.add(RendezvousJoined, joined=("node-1",), expected=NODES, min_nodes=2, max_nodes=2)
    take(first, second)
    Node.objects.filter(name="node-2").update(last_heard_at=timezone.now() - timedelta(seconds=12))
    restand_or_log(job.id)
    (trouble,) = told(operator, job)
    assert trouble["kind"] == "nodes_short"
    assert trouble["sentence"].startswith("nnodes is 2, a fixed number, and 1 node joined")
    assert "node-2 is not heard." in trouble["sentence"]
    assert "nnodes 1:2" in trouble["what_to_do"]


def test_a_job_without_restarts_is_told_that_its_first_failure_ended_it(operator: Api, anna: Account) -> None:
    job = launched(anna)
    first, second = up()
    second.exit(1, "cause", "killed by SIGKILL", signal="SIGKILL")
    why = "Rank 3 on node-2 was killed by SIGKILL, and the job allows no failure restarts (max_restarts 0)."
    second.end("failed", why)
    first.end("stopped", f"{why[:-1]}; the rendezvous was closed by another node.")
    take(first, second)
    (trouble,) = told(operator, job)
    assert operator.get(f"/api/jobs/{job.id}").body["state"] == "failed"
    assert trouble["kind"] == "did_not_shrink"
    assert "max_restarts 1 or more" in trouble["what_to_do"]


def test_what_a_worker_said_last_is_read_out_of_its_error(operator: Api, anna: Account) -> None:
    job = launched(anna, max_restarts=3, env={"GLOO_SOCKET_IFNAME": "eth9"})
    first, second = up()
    message = "[enforce fail at device.cc:84] ifa != nullptr. Unable to find address for: eth9"
    error = WorkerError(type="RuntimeError", message=message, read_from="stderr", traceback="")
    second.exit(0, "cause", "exited with code 1: RuntimeError", exit_code=1, error=error, known_from="stderr")
    take(first, second)
    (trouble,) = told(operator, job)
    assert trouble["kind"] == "network_interface"
    assert trouble["source"] == "stderr of rank 2 on node-2"
    assert "The job sets GLOO_SOCKET_IFNAME to eth9." in trouble["sentence"]


def test_a_worker_that_would_fail_again_is_not_told_to_try_more_often(operator: Api, anna: Account) -> None:
    job = launched(anna)
    first, second = up()
    said = "exited with code 1 and wrote nothing to stderr"
    second.exit(1, "cause", said, exit_code=1, ended_by="exit_code", known_from="exit status")
    second.end("failed", f"Rank 3 on node-2 {said}, and the job allows no failure restarts (max_restarts 0).")
    first.end("stopped", "The rendezvous was closed by another node.")
    take(first, second)
    assert [each["kind"] for each in told(operator, job)] == ["died_at_import"]


def test_troubles_cost_one_query(anna: Account, django_assert_max_num_queries: Any) -> None:
    job = launched(anna)
    take(*up())
    attempt = Attempt.objects.get()
    rounds = list(attempt.rounds.all())
    with django_assert_max_num_queries(1):
        ends = worker_ends(attempt, rounds)
        troubles_out(job, attempt, [], rounds, {}, None, ends, timezone.now())

"""What a store keeper records stands at its job, and changes nothing that the runners say of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agents.wire import streams
from agents.wire.events import KeeperFinished, KeeperStarted
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node
from tests.webapp.journals import BEGAN, NodeJournal, entries, killed_and_back
from webapp.accounts.models import Account
from webapp.events.models import SET_ASIDE, Record
from webapp.ingest.batch import take_batch
from webapp.jobs.models import Attempt, Job, Member

pytestmark = pytest.mark.django_db

ATTEMPT, NODES = "j1-a1-test", ("node-1", "node-2")


@pytest.fixture
def job(anna: Account) -> Job:
    for name in NODES:
        make_node(name)
    job = make_job(anna, state="waiting", nnodes="2", nproc_per_node=2, max_restarts=3)
    attempt = Attempt.objects.create(
        id=ATTEMPT, job=job, number=1, store_host="node-1", created_at=job.created_at
    )
    Member.objects.bulk_create(Member(attempt=attempt, node=name, slots=2) for name in NODES)
    return job


def keeper_records(attempt: str = ATTEMPT) -> list[KeeperStarted | KeeperFinished]:
    def base(seq: int) -> dict[str, object]:
        source = streams.keeper_source(attempt, "node-1")
        return {
            "source": source,
            "seq": seq,
            "at": BEGAN + timedelta(seconds=seq),
            "attempt": attempt,
            "node": "node-1",
        }

    started = KeeperStarted(
        **base(1),  # type: ignore[arg-type]
        pid=5,
        start_time=6,
        boot_id="b",
        python="python3",
        torch_version="2.13.0",
        endpoint="10.0.0.1:4000",
    )
    reason = "The store keeper on node-1 was killed (SIGKILL)."
    finished = KeeperFinished(**base(2), outcome="failed", reason=reason, inferred=True)  # type: ignore[arg-type]
    return [started, finished]


def test_they_are_shown_in_words_at_their_job(job: Job, operator: Api) -> None:
    taken = take_batch(entries(keeper_records()))
    assert taken.acks["node-1"] == {streams.keeper_source(ATTEMPT, "node-1"): 2}
    shown = operator.get(f"/api/jobs/{job.id}/events").body["items"]
    assert sorted(item["says"] for item in shown) == [
        "The store keeper on node-1 failed: The store keeper on node-1 was killed (SIGKILL). "
        "(written by the node agent)",
        "The store keeper on node-1 started as pid 5; the store is at 10.0.0.1:4000.",
    ]


def test_they_leave_the_jobs_state_alone_and_its_page_hears_of_them(job: Job) -> None:
    for journal in killed_and_back(ATTEMPT, NODES):
        take_batch(entries(journal.events))
    before = Job.objects.get(pk=job.pk)
    assert before.state == "training"
    take_batch(entries(keeper_records()))
    after = Job.objects.get(pk=job.pk)
    assert (after.state, after.state_reason) == (before.state, before.state_reason)
    assert after.version > before.version


def test_a_job_is_over_without_waiting_for_its_keeper(job: Job) -> None:
    for journal in killed_and_back(ATTEMPT, NODES):
        journal.end("stopped", "stopped on request (SIGTERM)")
        take_batch([*entries(journal.events), *entries(NodeJournal(journal.node).settled(ATTEMPT).events)])
    over = Job.objects.get(pk=job.pk)
    assert over.ended_at is not None
    take_batch(entries(keeper_records()))
    late = Job.objects.get(pk=job.pk)
    assert (late.state, late.state_reason, late.ended_at) == (over.state, over.state_reason, over.ended_at)


def test_those_of_an_attempt_that_is_not_known_are_kept(job: Job) -> None:
    take_batch(entries(keeper_records("j9-a9-elsewhere")))
    assert Record.objects.filter(attempt="j9-a9-elsewhere").count() == 2
    assert not Record.objects.filter(kind=SET_ASIDE).exists()

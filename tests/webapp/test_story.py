"""What is held of a job while it trains on, and that nothing of it is ever older than its rows."""

from __future__ import annotations

from typing import Any

import pytest

from agents.wire.runner_events import CheckpointSaved
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node, make_running_job
from tests.webapp.journals import RunnerJournal, entries
from webapp.accounts.models import Account
from webapp.ingest.batch import take_batch
from webapp.jobs import apply
from webapp.jobs.models import Job
from webapp.jobs.shelf import Shelf

pytestmark = pytest.mark.django_db


@pytest.fixture
def journal(anna: Account) -> RunnerJournal:
    """Of the one node of a job that trains."""
    make_node("node-1")
    job = make_running_job(anna, ["node-1"])
    job.attempts.get().members.update(folded={}, phase="launching")
    job.attempts.get().workers.all().delete()
    job.attempts.get().rounds.all().delete()
    return RunnerJournal(job.attempts.get().id, "node-1", ["node-1"]).start().form().come_up().progress(3)


def take(journal: RunnerJournal, *, last: int = 0) -> None:
    """All of it, or the last records."""
    take_batch(entries(journal.events[-last:]))


def test_training_on_asks_for_four_rows_of_the_job(
    operator: Api, journal: RunnerJournal, django_assert_max_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(journal)
    address = f"/api/jobs/{Job.objects.get().id}"
    before = operator.get(address).body
    take(journal.progress(4), last=1)
    monkeypatch.undo()  # what is held is not compared with the rows here
    with django_assert_max_num_queries(6):  # two of them find who asks
        after = operator.get(address).body
    assert (before["step"], after["step"]) == (3, 4)
    assert after["version"] > before["version"]
    assert after["timeline_version"] == before["timeline_version"]


def test_a_checkpoint_is_news_for_the_timeline(operator: Api, journal: RunnerJournal) -> None:
    take(journal)
    address = f"/api/jobs/{Job.objects.get().id}"
    before = operator.get(address).body["timeline_version"]
    take(journal.add(CheckpointSaved, round=1, rank=0, step=3, path="/c/3.pt"), last=1)
    assert operator.get(address).body["timeline_version"] > before


def test_a_worker_that_fails_is_told_although_no_sentence_can_be_made(
    operator: Api, journal: RunnerJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(journal)
    address = f"/api/jobs/{Job.objects.get().id}"
    assert operator.get(address).body["failure"] is None
    monkeypatch.setattr(apply, "facts_of", lambda job: 1 / 0)
    take(journal.exit(1, "cause", "killed by SIGKILL", signal="SIGKILL"), last=1)
    assert "killed by SIGKILL" in operator.get(address).body["failure"]["said"]


def test_what_is_held_has_an_end(anna: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    read: list[int] = []
    shelf, jobs = Shelf(lambda job: read.append(job.id), most=2), [make_job(anna) for _ in range(3)]
    for job in [*jobs, *jobs[1:]]:
        shelf.of(job)
    assert read == [job.id for job in jobs]

"""Most records are reports of progress: each moves the page on, and the hub need not think about the job."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node
from tests.webapp.journals import RunnerJournal, entries
from webapp.accounts.models import Account
from webapp.ingest.batch import take_batch
from webapp.jobs.models import Attempt, Job, Member

pytestmark = pytest.mark.django_db

ATTEMPT, NODE = "j1-a1-test", "node-1"


@pytest.fixture
def job(anna: Account) -> Job:
    make_node(NODE)
    job = make_job(anna, state="waiting", nnodes="1", nproc_per_node=2)
    attempt = Attempt.objects.create(
        id=ATTEMPT, job=job, number=1, store_host=NODE, created_at=job.created_at
    )
    Member.objects.create(attempt=attempt, node=NODE, slots=2)
    return job


def take(journal: RunnerJournal, count: int) -> int:
    """Its newest records, that many; gives how many queries that took."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        take_batch(entries(journal.events[-count:]))
    return len(queries)


def test_progress_moves_the_page_on_and_changes_no_sentence(job: Job, operator: Api) -> None:
    journal = RunnerJournal(ATTEMPT, NODE, [NODE]).start().form().come_up()
    take(journal, len(journal.events))
    first = take(journal.progress(10), 1)
    before = operator.get(f"/api/jobs/{job.id}").body
    second = take(journal.progress(20), 1)
    after = operator.get(f"/api/jobs/{job.id}").body
    assert (before["state"], before["step"], after["step"]) == ("training", 10, 20)
    assert after["version"] > before["version"]
    assert (after["state"], after["state_reason"]) == (before["state"], before["state_reason"])
    assert second < first - 3

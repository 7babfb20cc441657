"""How step and loss went over time: few points, the newest among them, over all attempts."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from agents.wire.runner_events import Progress, RankProgress
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node
from tests.webapp.journals import BEGAN, RunnerJournal, entries
from webapp.accounts.models import Account
from webapp.ingest.batch import take_batch
from webapp.jobs.models import Attempt, Job, Member

pytestmark = pytest.mark.django_db

NODES = ("node-1", "node-2")


@pytest.fixture
def job(anna: Account) -> Job:
    for name in NODES:
        make_node(name)
    return make_job(anna, state="training", nnodes="2", nproc_per_node=1)


def journals(job: Job, number: int, began: datetime) -> list[RunnerJournal]:
    """Of the attempt with that number: two nodes that are up, one rank each."""
    attempt = Attempt.objects.create(
        id=f"j1-a{number}-c", job=job, number=number, store_host="node-1", endpoint="h:1", created_at=began
    )
    Member.objects.bulk_create(Member(attempt=attempt, node=name, slots=1) for name in NODES)
    made = [RunnerJournal(attempt.id, node, NODES, ranks=1, began=began) for node in NODES]
    return [journal.start().form().come_up() for journal in made]


def report(journal: RunnerJournal, rank: int, step: int, after_s: float, **metrics: float) -> None:
    ranks = (RankProgress(rank=rank, step=step, metrics=metrics),)
    journal.add(Progress, round=1, ranks=ranks, at=journal.began + timedelta(seconds=after_s))


def curve(who: Api, job: Job, **query: int) -> dict[str, Any]:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    found: dict[str, Any] = who.get(f"/api/jobs/{job.id}/progress?{asked}").body
    return found


def test_rank_0_tells_and_of_two_seconds_the_first_report_counts(operator: Api, job: Job) -> None:
    first, second = journals(job, 1, BEGAN)
    for half_seconds in range(20, 32):
        report(first, 0, half_seconds, half_seconds / 2, loss=1 / half_seconds)
        report(second, 1, 999, half_seconds / 2)
    for journal in (first, second):
        take_batch(entries(journal.events))
    told = curve(operator, job)
    assert told["every_s"] == 2.0
    assert [(point["step"], point["attempt"]) for point in told["items"]] == [(20, 1), (24, 1), (28, 1)]
    assert told["items"][0]["metrics"] == {"loss": 0.05}


def test_of_many_points_few_are_told_evenly_apart_and_the_newest_too(operator: Api, job: Job) -> None:
    first, _ = journals(job, 1, BEGAN)
    for step in range(1000):
        report(first, 0, step, 10 + 2 * step)
    take_batch(entries(first.events))
    told = curve(operator, job, points=100)
    steps = [point["step"] for point in told["items"]]
    assert told["every_s"] == 20.0
    assert 100 <= len(steps) <= 101
    assert {after - before for before, after in pairwise(steps[:-1])} == {10}
    assert steps[-1] == 999


def test_all_attempts_are_told(operator: Api, job: Job) -> None:
    for number in (1, 2):
        first, _ = journals(job, number, BEGAN + timedelta(minutes=number))
        report(first, 0, 5, 10)
        take_batch(entries(first.events))
    assert [point["attempt"] for point in curve(operator, job)["items"]] == [1, 2]


def test_a_job_that_reports_nothing_has_no_points(operator: Api, job: Job) -> None:
    journals(job, 1, BEGAN)
    assert curve(operator, job)["items"] == []

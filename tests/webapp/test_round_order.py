"""Nodes ship their journals apart: a later round may be known before the one that it follows."""

from __future__ import annotations

import pytest

from tests.webapp.factories import make_job, make_node
from tests.webapp.journals import RunnerJournal, entries
from webapp.accounts.models import Account
from webapp.fleet.models import Node
from webapp.ingest.batch import take_batch
from webapp.jobs.models import Attempt, Job, Member, Round

pytestmark = pytest.mark.django_db

ATTEMPT, ALL = "j1-a1-test", ("node-1", "node-2", "node-3")


@pytest.fixture
def job(anna: Account) -> Job:
    for name in ALL:
        make_node(name)
    job = make_job(anna, state="waiting", nnodes="1:3", nproc_per_node=1)
    attempt = Attempt.objects.create(
        id=ATTEMPT, job=job, number=1, endpoint="127.0.0.1:29400", created_at=job.created_at
    )
    Member.objects.bulk_create(Member(attempt=attempt, node=name, slots=1) for name in ALL)
    return job


def journal(node: str) -> RunnerJournal:
    return RunnerJournal(ATTEMPT, node, ALL, ranks=1).start()


def form(journal: RunnerJournal, number: int, nodes: tuple[str, ...]) -> None:
    """Ship what that node writes of the round."""
    known = len(journal.events)
    if journal.round:
        journal.come_up().restart("membership")
    journal.nodes, journal.round = nodes, number - 1
    journal.form("start" if number == 1 else "membership")
    take_batch(entries(journal.events[known:] if known > 1 else journal.events))


def test_why_a_round_began_is_told_once_the_round_before_it_is_known(job: Job) -> None:
    first, second, third = journal("node-1"), journal("node-2"), journal("node-3")
    form(first, 1, ALL[:1])
    form(third, 3, ALL)
    assert Round.objects.get(number=3).why == ""
    form(second, 2, ALL[:2])
    assert [row.why for row in Round.objects.order_by("number")] == ["", "node-2 joined", "node-3 joined"]


def test_a_return_is_counted_once_whichever_round_is_known_first(job: Job) -> None:
    first, second = journal("node-1"), journal("node-2")
    form(first, 1, ALL[:2])
    form(second, 1, ALL[:2])
    form(second, 3, ALL[:2])
    assert Node.objects.get(name="node-2").comings == []
    form(first, 2, ALL[:1])
    form(first, 3, ALL[:2])
    assert len(Node.objects.get(name="node-2").comings) == 1

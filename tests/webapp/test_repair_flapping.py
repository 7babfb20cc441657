"""A node that leaves and joins again and again is set aside; one that was told to is not."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from tests.webapp.factories import make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet.models import Command, Node
from webapp.jobs.comings import note_comings
from webapp.jobs.models import Attempt, Member, Round

pytestmark = pytest.mark.django_db

BOTH, ONE = ["node-1", "node-2"], ["node-1"]
LAPSED = {"node-2": "its keep-alive lapsed"}


@pytest.fixture
def attempt(anna: Account) -> Attempt:
    for name in BOTH:
        make_node(name)
    return make_running_job(anna, BOTH, nnodes="1:2").attempts.get()


def form(attempt: Attempt, nodes: list[str], at: datetime, absent: dict[str, str] | None = None) -> None:
    number = attempt.rounds.count() + 1
    row = Round.objects.create(
        attempt=attempt,
        number=number,
        world_size=2 * len(nodes),
        nodes=nodes,
        cause="membership",
        absent=absent or {},
        formed_at=at,
    )
    note_comings(row)


def come_and_go(attempt: Attempt, times: int, apart_s: float = 60.0, absent: dict[str, str] = LAPSED) -> None:
    at = timezone.now()
    for number in range(times):
        form(attempt, ONE, at + timedelta(seconds=apart_s * number), absent)
        form(attempt, BOTH, at + timedelta(seconds=apart_s * number + 5))


def node() -> Node:
    return Node.objects.get(name="node-2")


def test_the_third_return_within_ten_minutes_sets_a_node_aside(attempt: Attempt) -> None:
    come_and_go(attempt, 2)
    assert (len(node().comings), node().set_aside_at) == (2, None)
    come_and_go(attempt, 1)
    assert node().set_aside_at is not None
    assert Node.objects.get(name="node-1").comings == []


def test_returns_that_are_far_apart_are_not_counted_together(attempt: Attempt) -> None:
    come_and_go(attempt, 4, apart_s=400.0)
    assert (len(node().comings), node().set_aside_at) == (2, None)


def test_who_was_told_to_leave_has_not_come_and_gone_by_itself(attempt: Attempt) -> None:
    Command.objects.create(
        node="node-2",
        kind="leave_runner",
        body={},
        attempt=attempt.id,
        state="done",
        created_at=timezone.now() + timedelta(hours=1),
    )
    come_and_go(attempt, 3, absent={"node-2": "it left"})
    assert node().comings == []


def test_a_node_whose_runner_died_was_there_all_the_time(attempt: Attempt) -> None:
    died_at = timezone.now() + timedelta(hours=1)
    Member.objects.filter(node="node-2").update(deaths=[died_at.isoformat()])
    come_and_go(attempt, 3)
    assert node().comings == []


def test_a_node_that_is_new_to_the_attempt_has_not_come_back(attempt: Attempt) -> None:
    make_node("node-3")
    form(attempt, [*BOTH, "node-3"], timezone.now())
    assert Node.objects.get(name="node-3").comings == []

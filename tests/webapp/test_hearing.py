"""A command is called undelivered only when its node can no longer have taken it, or ends something."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from webapp.events.models import Source
from webapp.fleet.hearing import may_conclude
from webapp.fleet.leases import Lease
from webapp.fleet.models import Command

pytestmark = pytest.mark.django_db

JOURNAL = "node/node-1/abc"


def command(kind: str, since_deadline_s: float) -> Command:
    sent_at = timezone.now() - timedelta(seconds=30 + since_deadline_s)
    return Command(node="node-1", kind=kind, created_at=sent_at, sent_at=sent_at, deadline_s=30)


def lease(seq: int, silence_s: float = 0.2) -> Lease:
    return Lease(silence_s, journal=JOURNAL, seq=seq)


@pytest.fixture(autouse=True)
def taken() -> None:
    Source.objects.create(name=JOURNAL, node="node-1", last_seq=7)


@pytest.mark.parametrize("kind", ["start_runner", "kill_worker"])
def test_a_node_that_was_heard_out_has_not_taken_it(kind: str) -> None:
    assert may_conclude(command(kind, since_deadline_s=6), lease(seq=7), timezone.now())


@pytest.mark.parametrize("kind", ["start_runner", "kill_worker"])
def test_what_the_node_may_have_noted_is_waited_for(kind: str) -> None:
    """Such as while ingest has not caught up."""
    assert not may_conclude(command(kind, since_deadline_s=6), lease(seq=8), timezone.now())


@pytest.mark.parametrize("kind", ["start_runner", "kill_worker"])
def test_a_lease_from_before_the_deadline_says_nothing(kind: str) -> None:
    now = timezone.now()
    assert not may_conclude(command(kind, since_deadline_s=6), lease(seq=7, silence_s=4), now)


def test_a_silent_node_may_have_started_a_runner_and_is_not_waited_for_with_a_kill() -> None:
    now = timezone.now()
    for told in (None, Lease(None)):
        assert not may_conclude(command("start_runner", since_deadline_s=600), told, now)
        assert may_conclude(command("kill_worker", since_deadline_s=3), told, now)


def test_a_kill_is_not_waited_for_without_end() -> None:
    assert may_conclude(command("kill_worker", since_deadline_s=61), lease(seq=9), timezone.now())
    assert not may_conclude(command("start_runner", since_deadline_s=61), lease(seq=9), timezone.now())

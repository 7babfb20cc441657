"""While a round gathers, the sentence says how many are in, who is missing, and until when they wait."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from agents.wire.runner_events import RendezvousBegun, RendezvousJoined
from tests.webapp.factories import make_job, make_node
from tests.webapp.journals import BEGAN, RunnerJournal, entries
from tests.webapp.situations import NODES, change, facts, journals, says, up
from webapp.accounts.models import Account
from webapp.fleet.models import Node
from webapp.ingest.batch import take_batch
from webapp.jobs.apply import restand_or_log
from webapp.jobs.launch import start_members
from webapp.jobs.models import Attempt, Member
from webapp.jobs.situation import JobFacts
from webapp.jobs.standing import stand
from webapp.jobs.words import clock

LAST_CALL = BEGAN + timedelta(seconds=42)


def join(journal: RunnerJournal, cause: str = "membership") -> RunnerJournal:
    """It is in the rendezvous, and sees only itself."""
    journal.add(RendezvousBegun, cause=cause, previous_round=journal.round or None)
    alone = (journal.node,)
    return journal.add(RendezvousJoined, joined=alone, expected=NODES, min_nodes=1, max_nodes=2)


def restarting() -> JobFacts:
    first, second = up(5)
    return facts([join(first.restart("membership", counter=0)), second], rounds=1)


def test_a_node_that_has_not_joined_the_next_round_is_named() -> None:
    assert says(stand(restarting())) == (
        "restarting",
        "Rendezvous round 2: 1 of 2 nodes joined, node-2 still to come.",
    )


def test_a_silent_node_is_waited_for_until_the_last_call_is_over() -> None:
    seen = change(restarting(), "node-2", is_unheard=True, silence_s=5.0, heard_at=BEGAN)
    state, reason = says(stand(replace(seen, last_call_at=LAST_CALL)))
    assert state == "restarting"
    assert reason.startswith(
        "Rendezvous round 2: 1 of 2 nodes joined, node-2 last heard at 14:00:00 UTC; min_nodes is 1, so it "
        "forms without it at 14:00:42 UTC at the latest."
    )


def test_the_cause_of_the_restart_stands_in_front() -> None:
    seen = replace(restarting(), next_why="Rank 3 on node-2 was killed by SIGKILL")
    assert stand(seen).reason == (
        "Rank 3 on node-2 was killed by SIGKILL. "
        "Rendezvous round 2: 1 of 2 nodes joined, node-2 still to come."
    )


def test_the_first_round_says_the_same() -> None:
    first, second = journals()
    seen = replace(facts([join(first.start(), "start"), second.start()]), last_call_at=LAST_CALL)
    assert says(stand(seen)) == (
        "waiting",
        "Rendezvous round 1: 1 of 2 nodes joined, node-2 still to come; min_nodes is 1, so it forms without "
        "it at 14:00:42 UTC at the latest.",
    )


@pytest.mark.django_db
def test_the_end_of_the_last_call_is_read_from_what_the_nodes_in_it_saw(anna: Account) -> None:
    for name in NODES:
        make_node(name)
    conf = {"last_call_timeout": "12"}
    job = make_job(anna, state="waiting", nnodes="1:2", nproc_per_node=2, rdzv_conf=conf)
    attempt = Attempt.objects.create(
        id="j1-a1-test",
        job=job,
        number=1,
        store_host="node-1",
        endpoint="127.0.0.1:29400",
        created_at=job.created_at,
    )
    Member.objects.bulk_create(Member(attempt=attempt, node=name, slots=2) for name in NODES)
    start_members(attempt)
    now = timezone.now().replace(microsecond=0)
    first = join(RunnerJournal(attempt.id, "node-1", NODES, began=now).start(), "start")
    take_batch(entries(first.events))
    Node.objects.filter(name="node-2").update(last_heard_at=datetime(2026, 3, 1, 14, 0, tzinfo=UTC))
    restand_or_log(job.id)
    job.refresh_from_db()
    # The third record of node-1 tells that it joined, three seconds after it began.
    until = clock(now + timedelta(seconds=3 + 12))
    assert job.state_reason.startswith(
        "Rendezvous round 1: 1 of 2 nodes joined, node-2 last heard at 14:00:00 UTC; min_nodes is 1, so it "
        f"forms without it at {until} at the latest."
    )

"""What the database does not take: a record is set aside only when it is the record's own fault."""

from __future__ import annotations

import pytest
import redis
from django.db import DatabaseError, connection

from agents.wire import streams
from tests.waiting import wait_until
from tests.webapp.factories import make_job, make_node
from tests.webapp.journals import RunnerJournal, entries, ship
from tests.webapp.processes import Hub
from webapp.accounts.models import Account
from webapp.events.models import SET_ASIDE, Record, Source
from webapp.ingest.batch import take_batch
from webapp.jobs.models import Attempt, Member, PhaseSpan

pytestmark = pytest.mark.django_db(transaction=True)


def rename(old: str, new: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {old} RENAME TO {new}")


def test_nothing_is_set_aside_where_a_table_is_missing(anna: Account) -> None:
    """As before an upgrade's migration has run."""
    make_node("node-1")
    job = make_job(anna)
    attempt = Attempt.objects.create(id="j1-a1-x", job=job, number=1, created_at=job.created_at)
    Member.objects.create(attempt=attempt, node="node-1", slots=2)
    journal = RunnerJournal("j1-a1-x", "node-1", ["node-1"]).start().form()
    table = PhaseSpan._meta.db_table
    rename(table, "elsewhere")
    try:
        with pytest.raises(DatabaseError):
            take_batch(entries(journal.events))
    finally:
        rename("elsewhere", table)
    assert not Record.objects.exists()
    assert not Source.objects.exists()
    take_batch(entries(journal.events))
    assert not Record.objects.filter(kind=SET_ASIDE).exists()


@pytest.mark.parametrize(
    "name", [b"n" * 101, b"a\xffb", b"a\0b", b""], ids=["long", "no text", "NUL", "empty"]
)
def test_a_name_that_no_node_can_have_stops_no_other(name: bytes, hub: Hub, bus: redis.Redis) -> None:
    bus.sadd(streams.NODES, name)
    bus.xadd(b"regroup:node:" + name + b":events", {"s": "x", "q": 1, "b": "{}"})
    journal = RunnerJournal("j1-a1-x", "node-1", ["node-1"]).start()
    ship(bus, journal.events)
    with hub.ingest():
        wait_until(lambda: bus.hget(streams.acks("node-1"), journal.source), what="an acknowledgement")
    assert Record.objects.get().node == "node-1"


def test_a_source_whose_names_are_too_long_is_set_aside() -> None:
    journal = RunnerJournal("j" * 120, "node-1", ["node-1"]).start()
    taken = take_batch(entries(journal.events))
    assert taken.acks["node-1"] == {journal.source: 1}
    assert Record.objects.count() == 1

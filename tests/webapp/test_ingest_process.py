"""Ingest as a process of its own: two at once, ended at any point, while Redis has lost everything."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest
import redis

from agents.wire import streams
from tests.waiting import wait_until
from tests.webapp.journals import NodeJournal, RunnerJournal, ship
from tests.webapp.processes import Hub
from webapp.events.models import Record, Source
from webapp.fleet.models import Node

pytestmark = pytest.mark.django_db(transaction=True)

Start = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture
def ingest(hub: Hub) -> Iterator[Start]:
    """Starts ``manage.py ingest`` on the tests' database; all are ended at the end."""
    with ExitStack() as started:
        yield lambda: started.enter_context(hub.ingest())


def runner(number: int, steps: int = 30) -> RunnerJournal:
    """A runner of an attempt that the hub does not know: its records are kept all the same."""
    journal = RunnerJournal(f"j{number}-a1-x", f"node-{number}", [f"node-{number}"]).start().form().come_up()
    for step in range(steps):
        journal.progress(step)
    return journal


def acked(bus: redis.Redis, journal: RunnerJournal) -> int:
    return int(bus.hget(streams.acks(journal.node), journal.source) or 0)


def is_acked(bus: redis.Redis, journal: RunnerJournal, part: int) -> bool:
    return acked(bus, journal) >= part


def wait_acked(bus: redis.Redis, *journals: RunnerJournal) -> None:
    wait_until(
        lambda: all(acked(bus, journal) == len(journal.events) for journal in journals),
        what="all records to be acknowledged",
    )


def assert_each_once(*journals: RunnerJournal) -> None:
    for journal in journals:
        kept = Record.objects.filter(source=journal.source).order_by("id").values_list("seq", flat=True)
        assert list(kept) == list(range(1, len(journal.events) + 1))


def test_records_are_taken_acknowledged_and_removed_from_the_stream(ingest: Start, bus: redis.Redis) -> None:
    ship(bus, NodeJournal("node-1").started(slots=4).events)
    journal = runner(1)
    ship(bus, journal.events)
    ingest()
    wait_acked(bus, journal)
    assert_each_once(journal)
    assert Node.objects.get(name="node-1").slots == 4
    wait_until(lambda: bus.xlen(streams.events("node-1")) == 0, what="the stream to be empty")
    assert bus.get(streams.EPOCH)
    assert bus.get(streams.INGEST)


def test_what_was_committed_and_not_acknowledged_is_acknowledged_by_the_next(
    ingest: Start, bus: redis.Redis
) -> None:
    journal = runner(1)
    ship(bus, journal.events)
    first = ingest()
    wait_acked(bus, journal)
    first.kill()
    first.wait()
    # As when it was killed between the commit and the acknowledgement.
    bus.delete(streams.acks("node-1"))
    ship(bus, journal.events)
    ingest()
    wait_acked(bus, journal)
    assert_each_once(journal)


def test_two_at_once_take_each_record_once(ingest: Start, bus: redis.Redis) -> None:
    journals = [runner(number, steps=400) for number in (1, 2)]
    ingest()
    ingest()
    for journal in journals:
        ship(bus, journal.events)
        ship(bus, journal.events)
    wait_acked(bus, *journals)
    assert_each_once(*journals)


def test_killed_again_and_again_it_loses_and_doubles_nothing(ingest: Start, bus: redis.Redis) -> None:
    journal = runner(1, steps=600)
    ship(bus, journal.events)
    for part in (1, 200, 400):
        process = ingest()
        wait_until(partial(is_acked, bus, journal, part), what=f"{part} records to be acknowledged")
        process.kill()
        process.wait()
    ingest()
    wait_acked(bus, journal)
    assert_each_once(journal)


def test_a_gap_is_filled_when_the_node_sends_again(ingest: Start, bus: redis.Redis) -> None:
    journal = runner(1)
    ship(bus, journal.events[:5] + journal.events[9:])
    ingest()
    wait_until(lambda: acked(bus, journal) == 5, what="what precedes the gap to be acknowledged")
    wait_until(lambda: bus.xlen(streams.events("node-1")) == 0, what="the stream to be empty")
    ship(bus, journal.events[5:])
    wait_acked(bus, journal)
    assert_each_once(journal)


def test_it_goes_on_when_redis_has_lost_everything(ingest: Start, bus: redis.Redis) -> None:
    ingest()
    first = runner(1)
    ship(bus, first.events)
    wait_acked(bus, first)
    bus.flushdb()
    ship(bus, first.events)
    wait_acked(bus, first)
    wait_until(lambda: bus.get(streams.EPOCH), what="a new epoch word")
    assert_each_once(first)
    assert Source.objects.get(name=first.source).last_seq == len(first.events)


def test_it_ends_on_sigterm(ingest: Start, bus: redis.Redis) -> None:
    process = ingest()
    wait_until(lambda: bus.get(streams.INGEST), what="ingest to take a turn")
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0

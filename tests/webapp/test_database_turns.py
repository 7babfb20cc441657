"""Several at once: each sees what the other has done, nobody waits for one who waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import redis
from django.db import connection, transaction

from tests.waiting import wait_until
from tests.webapp.factories import make_job, make_node, make_running_job
from tests.webapp.journals import RunnerJournal, entries
from webapp.accounts.models import Account
from webapp.events.models import Record
from webapp.fleet.models import Command
from webapp.ingest.batch import take_batch
from webapp.jobs.models import Attempt, Job, Member
from webapp.jobs.placing import place
from webapp.jobs.services import stop_job
from webapp.jobs.tasks import expire_commands, reconcile
from webapp.sqlite.base import line_of, somebody_waits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("bus")]

NODES = ("node-1", "node-2")


@contextmanager
def others() -> Iterator[ThreadPoolExecutor]:
    """Threads with connections of their own."""
    with ThreadPoolExecutor(4) as pool:
        yield pool


def closing(do: Callable[[], Any]) -> Any:
    try:
        return do()
    finally:
        connection.close()


def begin_meanwhile(pool: ThreadPoolExecutor, do: Callable[[], Any]) -> Future[Any]:
    """Start it while this transaction is open, and go on once it waits for that, or has not waited."""
    future = pool.submit(closing, do)
    wait_until(lambda: future.done() or is_somebody_waiting(), what="the other to come to the database")
    return future


def is_somebody_waiting() -> bool:
    if connection.vendor == "sqlite":
        return somebody_waits(line_of(connection.settings_dict["NAME"]))
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])


def test_two_jobs_placed_at_once_do_not_get_the_same_slots(anna: Account) -> None:
    make_node("node-1", slots=2)
    first, second = (make_job(anna, name, nproc_per_node=2) for name in ("first", "second"))
    with others() as pool:
        with transaction.atomic():
            assert place(first.pk)
            other = begin_meanwhile(pool, lambda: place(second.pk))
        assert not other.result(30)
    assert [attempt.job for attempt in Attempt.objects.all()] == [first]
    second.refresh_from_db()
    assert "node-1 has 0 of 2 free (held by job" in second.state_reason


def test_events_can_be_seen_in_the_order_of_their_cursors() -> None:
    """Or else who has read up to a cursor would never see what is committed before it later on."""
    one, other = (RunnerJournal(f"j{n}-a1-x", f"node-{n}", [f"node-{n}"]).start().form() for n in (1, 2))
    with others() as pool:
        with transaction.atomic():
            take_batch(entries(one.events))
            later = begin_meanwhile(pool, lambda: take_batch(entries(other.events)))
            assert not later.done()
        later.result(30)
    ids = [list(Record.objects.filter(source=j.source).values_list("id", flat=True)) for j in (one, other)]
    assert max(ids[0]) < min(ids[1])


def running(anna: Account, number: int) -> tuple[Job, list[RunnerJournal]]:
    """A job in the rows, and what its runners are about to tell."""
    job = make_running_job(anna, NODES, name=f"job-{number}")
    attempt = job.attempts.get()
    attempt.workers.all().delete()
    attempt.rounds.all().delete()
    Member.objects.filter(attempt=attempt).update(folded={}, phase="launching")
    return job, [RunnerJournal(attempt.id, node, NODES).start().form().come_up() for node in NODES]


def test_ingest_stops_and_sweeps_at_once_all_come_through(anna: Account, bus: redis.Redis) -> None:
    for name in NODES:
        make_node(name, slots=100)
    made = [running(anna, number) for number in range(6)]
    told = [entry for _, journals in made for j in journals for entry in entries(j.events)]

    def ingest() -> None:
        for start in range(0, len(told), 5):
            take_batch(told[start : start + 5])

    def stop() -> None:
        for job, _ in reversed(made):
            stop_job(job, anna, "enough")

    def sweep() -> None:
        for _ in range(6):
            reconcile()
            expire_commands()

    with others() as pool:
        for future in [pool.submit(closing, do) for do in (ingest, stop, sweep)]:
            future.result(120)
    assert Record.objects.count() == len(told)
    for job, journals in made:
        job.refresh_from_db()
        assert job.state == "stopping", job.state_reason
        for journal in journals:
            take_batch(entries(journal.end("stopped", "stopped").events))
        job.refresh_from_db()
        assert job.state == "stopped", job.state_reason
        assert Command.objects.filter(job=job.id, kind="stop_runner").count() == len(NODES)

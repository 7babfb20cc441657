"""The database is locked, away or stands still: web says so, ingest waits, nothing is lost."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import redis
from django.db import connection, transaction
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from agents.wire import streams
from tests.postgres import server_in_use
from tests.waiting import wait_until
from tests.webapp.factories import make_node, make_running_job
from tests.webapp.journals import RunnerJournal, ship
from tests.webapp.processes import Hub
from webapp.accounts.models import Account
from webapp.accounts.tokens import make_token
from webapp.events.models import Record
from webapp.fleet.models import Command, CommandState
from webapp.jobs.models import Job

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE_S = 15.0
"""Within which web says what is wrong, on a machine that does a lot else."""


@dataclass(frozen=True)
class Trouble:
    name: str
    make: Callable[[], AbstractContextManager[None]]
    reading_works: bool = False


@contextmanager
def locked() -> Iterator[None]:
    """Somebody else writes for a long time."""
    other = sqlite3.connect(str(connection.settings_dict["NAME"]), isolation_level=None, timeout=60)
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextmanager
def stopped() -> Iterator[None]:
    server_in_use().stop()
    try:
        yield
    finally:
        server_in_use().start()


@contextmanager
def frozen() -> Iterator[None]:
    with server_in_use().frozen():
        yield


TROUBLES = {
    "sqlite": [Trouble("locked", locked, reading_works=True)],
    "postgresql": [Trouble("stopped", stopped), Trouble("frozen", frozen)],
}[connection.vendor]


@dataclass
class Person:
    """At the API and at the socket of a running web process."""

    url: str
    token: str

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.request(method, f"{self.url}{path}", json=body, headers=headers, timeout=60)

    def kill(self, job: Job) -> httpx.Response:
        return self.ask("POST", f"/api/jobs/{job.id}/faults", {"kind": "kill_worker", "rank": 0})

    def sees_live_data(self) -> bool:
        """As the page decides it: a greeting and a pulse that does not call ingest silent."""
        url = self.url.replace("http", "ws") + "/ws/live"
        try:
            with connect(url, additional_headers={"Authorization": f"Bearer {self.token}"}) as socket:
                socket.send(json.dumps({"type": "subscribe", "topic": "jobs"}))
                return self._is_live(frame_of(socket, "pulse"))
        except (WebSocketException, TimeoutError, OSError):
            return False

    def _is_live(self, pulse: Any) -> bool:
        age_s = pulse["ingest_age_s"]
        return pulse["redis"] is True and age_s is not None and age_s <= 5


def frame_of(socket: Any, kind: str) -> Any:
    until = time.monotonic() + 6
    while True:
        frame = json.loads(socket.recv(timeout=max(0.01, until - time.monotonic())))
        if frame["type"] == kind:
            return frame


@pytest.fixture
def job(anna: Account) -> Job:
    make_node("node-1", slots=8)
    return make_running_job(anna, ["node-1"])


def runner(number: int) -> RunnerJournal:
    journal = RunnerJournal(f"j{number}-a1-x", f"node-{number}", [f"node-{number}"]).start().form().come_up()
    for step in range(50):
        journal.progress(step)
    return journal


def acked(bus: redis.Redis, journal: RunnerJournal) -> int:
    return int(bus.hget(streams.acks(journal.node), journal.source) or 0)


def wait_acked(bus: redis.Redis, journal: RunnerJournal) -> None:
    wait_until(lambda: acked(bus, journal) == len(journal.events), 60, "all records to be acknowledged")


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.name)
def test_web_says_so_ingest_waits_and_all_goes_on_by_itself(
    trouble: Trouble, hub: Hub, bus: redis.Redis, anna: Account, job: Job
) -> None:
    first, second = runner(1), runner(2)
    token = make_token(anna)
    with hub.ingest(REGROUP_DATABASE_WAIT_S="2"), hub.web() as url, hub.worker():
        person = Person(url, token)
        ship(bus, first.events)
        wait_acked(bus, first)
        assert person.kill(job).status_code == 202
        wait_until(person.sees_live_data, 60, "the page to be live")
        connection.close()
        with trouble.make():
            ship(bus, second.events)
            begun = time.monotonic()
            answer = person.kill(job)
            assert time.monotonic() - begun < PATIENCE_S
            assert (answer.status_code, answer.json()["reason"]) == (503, "database_unavailable")
            assert "The database does not answer" in answer.json()["what"]
            look, health = person.ask("GET", f"/api/jobs/{job.id}"), person.ask("GET", "/healthz")
            expected = 200 if trouble.reading_works else 503
            assert (look.status_code, health.status_code) == (expected, expected)
            says = "database does not answer, nothing is acknowledged"
            wait_until(lambda: says in hub.log_of("ingest").read_text(), 60, "ingest to say so")
            wait_until(lambda: not person.sees_live_data(), 60, "the page to say that it is not live")
            assert acked(bus, second) == 0
        wait_acked(bus, second)
        wait_until(lambda: person.kill(job).status_code == 202, 60, "a kill to be accepted again")
        wait_until(person.sees_live_data, 60, "the page to be live again")
        spec = {"script": "/x.py", "name": "later"}
        later = person.ask("POST", "/api/jobs", spec).json()
        wait_until(lambda: _starts(later["id"]) == 1, 60, "the worker to place a job again")
        for name in ("web", "ingest", "worker"):
            assert "Traceback" not in hub.log_of(name).read_text()
    for journal in (first, second):
        kept = Record.objects.filter(source=journal.source).order_by("id").values_list("seq", flat=True)
        assert list(kept) == list(range(1, len(journal.events) + 1))
    # Nobody was told that a kill was refused which was sent all the same.
    assert Command.objects.filter(kind="kill_worker").count() == 2


def test_who_waits_for_what_another_has_locked_is_told_so(
    hub: Hub, bus: redis.Redis, anna: Account, job: Job
) -> None:
    token = make_token(anna)
    with hub.web() as url:
        person = Person(url, token)
        with transaction.atomic():
            Job.objects.select_for_update().get(pk=job.id)
            begun = time.monotonic()
            answer = person.ask("POST", f"/api/jobs/{job.id}/stop", {"reason": "enough"})
            assert time.monotonic() - begun < PATIENCE_S
            assert (answer.status_code, answer.json()["reason"]) == (503, "database_unavailable")
        assert person.ask("POST", f"/api/jobs/{job.id}/stop", {"reason": "enough"}).status_code == 200


def _starts(job_id: int) -> int:
    return Command.objects.filter(job=job_id, kind="start_runner", state=CommandState.SENT).count()

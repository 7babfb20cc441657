"""Commands: written with their intent, sent after the commit, closed only by what a node says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import redis
from django.db import transaction
from django.utils import timezone

from agents.wire import streams
from agents.wire.codec import read_command
from agents.wire.commands import StopRunner
from webapp.fleet.models import Command
from webapp.fleet.outbox import (
    close_command,
    expire,
    find_late,
    mark_received,
    send_lost,
    send_waiting,
    write_command,
)

pytestmark = pytest.mark.django_db(transaction=True)


def write(deadline_s: float = 30.0) -> Command:
    command = StopRunner(id=str(uuid4()), deadline_s=deadline_s, attempt="j1-a1-0", by="anna", why="enough")
    return write_command("node-1", command, job=1, attempt="j1-a1-0")


def in_stream(bus: redis.Redis) -> list[str]:
    entries: Any = bus.xrange(streams.commands("node-1"))
    return [read_command(fields[b"b"]).id for _, fields in entries]


def age(row: Command, seconds: float) -> None:
    then = timezone.now() - timedelta(seconds=seconds)
    Command.objects.filter(pk=row.pk).update(created_at=then)
    Command.objects.filter(pk=row.pk).exclude(sent_at=None).update(sent_at=then)


def test_a_command_is_sent_after_the_commit_and_not_before(bus: redis.Redis) -> None:
    with transaction.atomic():
        row = write()
        assert in_stream(bus) == []
    assert in_stream(bus) == [str(row.id)]
    row.refresh_from_db()
    assert row.state == "sent"
    assert row.sent_at is not None


def test_a_rolled_back_intent_sends_nothing(bus: redis.Redis) -> None:
    @transaction.atomic
    def fail_after_writing() -> None:
        write()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_writing()
    assert in_stream(bus) == []
    assert not Command.objects.exists()


def test_what_could_not_be_sent_is_sent_by_the_sweep(
    bus: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr("django.conf.settings.REDIS_URL", "redis://127.0.0.1:1/0")
        row = write()
    row.refresh_from_db()
    assert row.state == "waiting"
    assert send_waiting() == 1
    assert send_waiting() == 0
    assert in_stream(bus) == [str(row.id)]


def test_what_redis_has_lost_is_sent_again_until_the_node_has_it(bus: redis.Redis) -> None:
    row = write()
    age(row, 5)
    assert send_lost() == 0
    bus.flushdb()
    assert send_lost() == 1
    assert in_stream(bus) == [str(row.id)]
    row.refresh_from_db()
    age(row, 5)
    bus.flushdb()
    mark_received(str(row.id), timezone.now())
    assert send_lost() == 0
    assert in_stream(bus) == []


def test_what_redis_has_lost_is_not_sent_after_its_deadline(bus: redis.Redis) -> None:
    age(write(deadline_s=10), 11)
    bus.flushdb()
    assert send_lost() == 0


def test_a_command_that_redis_never_took_says_so(bus: redis.Redis, no_redis: None) -> None:
    row = write(deadline_s=10)
    age(row, 13)
    assert expire(find_late()[0])
    row.refresh_from_db()
    assert "Redis could not be given it for node-1 within 10 s" in row.reason


def test_a_command_found_waiting_past_its_deadline_is_never_sent(
    bus: redis.Redis, no_redis: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = write(deadline_s=10)
    monkeypatch.undo()
    age(row, 11)
    assert send_waiting() == 0
    assert in_stream(bus) == []


def test_a_node_that_is_quicker_than_the_hub_is_not_set_back(bus: redis.Redis) -> None:
    row = write()
    assert mark_received(str(row.id), timezone.now())
    assert close_command(str(row.id), "done", "Nothing is left.", {"pid": 7}, timezone.now())
    assert not mark_received(str(row.id), timezone.now())
    row.refresh_from_db()
    assert (row.state, row.reason, row.evidence) == ("done", "Nothing is left.", {"pid": 7})


def test_a_closed_command_stays_closed_and_leaves_the_stream(bus: redis.Redis) -> None:
    row = write()
    assert close_command(str(row.id), "refused", "It had ended.", {}, timezone.now())
    assert in_stream(bus) == []
    assert close_command(str(row.id), "done", "Late.", {}, timezone.now()) is None
    row.refresh_from_db()
    assert row.state == "refused"


def test_a_command_that_no_node_takes_ends_undelivered_with_a_sentence(bus: redis.Redis) -> None:
    row = write(deadline_s=10)
    age(row, 11)
    assert find_late() == []
    age(row, 13)
    assert [late.id for late in find_late() if expire(late)] == [row.id]
    row.refresh_from_db()
    assert row.state == "undelivered"
    assert "node-1 has not said that it has it within 10 s, and was never heard" in row.reason
    assert in_stream(bus) == []


def test_what_the_node_says_later_overrules_undelivered(bus: redis.Redis) -> None:
    row = write(deadline_s=10)
    age(row, 13)
    assert [expire(late) for late in find_late()] == [True]
    assert close_command(str(row.id), "done", "Nothing is left.", {}, timezone.now())
    row.refresh_from_db()
    assert (row.state, row.reason) == ("done", "Nothing is left.")


def test_a_received_command_does_not_expire(bus: redis.Redis) -> None:
    row = write(deadline_s=10)
    mark_received(str(row.id), timezone.now())
    age(row, 60)
    assert find_late() == []


def test_a_report_of_an_unknown_command_changes_nothing(bus: redis.Redis) -> None:
    assert not mark_received("no-id-at-all", timezone.now())
    assert close_command(str(uuid4()), "done", "x", {}, timezone.now()) is None

"""While ingest has a lot to catch up with, a person at the page is served all the same."""

from __future__ import annotations

import pytest
import redis
from django.db import connection

from tests.benchmarks.catching_up import fill, prepare, watch
from tests.webapp.processes import Hub
from webapp.accounts.models import Account
from webapp.accounts.tokens import make_token
from webapp.events.models import Record

ENTRIES = 6_000


@pytest.mark.django_db(transaction=True)
def test_no_request_fails_and_each_kill_is_sent(hub: Hub, bus: redis.Redis, anna: Account) -> None:
    job, journals = prepare(anna, ENTRIES)
    fill(bus, journals)
    token = make_token(anna)
    connection.close()
    with hub.web() as url, hub.ingest():
        seen = watch(bus, url, token, job.id, journals)
    assert seen.failed == []
    assert len(seen.kills_s) > 5
    assert len(seen.sent_s) == len(seen.kills_s)
    assert Record.objects.count() == ENTRIES

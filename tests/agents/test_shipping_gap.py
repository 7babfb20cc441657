"""A record lost on its way, as when Redis fails over, is sent again, however much is shipped behind it."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from redis import Redis

from agents.journal import Journal
from agents.node import shipper
from agents.node.shipper import Shipper
from agents.node.tail import Tail
from agents.wire import streams
from agents.wire.events import JournalRepaired
from tests.agents.node_harness import Valkey
from tests.waiting import wait_until

NODE, SOURCE = "node-1", "node/node-1/x"


class StrictHub:
    """Takes the next record, drops what is behind a gap, and acknowledges what it has, as ingest does."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self.has = 0

    def take(self) -> None:
        entries = cast("list[tuple[str, dict[str, str]]]", self._redis.xrange(streams.events(NODE)))
        for _, fields in entries:
            self.has += int(fields[streams.FIELD_SEQ]) == self.has + 1
        self._redis.hset(streams.acks(NODE), SOURCE, str(self.has))
        for entry_id, _ in entries:
            self._redis.xdel(streams.events(NODE), entry_id)


def test_a_lost_record_is_sent_again_while_others_follow_it(
    own_valkey: Valkey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipper, "STALL_S", 0.3)
    journal = Journal(tmp_path / "node.jsonl", SOURCE, node=NODE)
    tail = Tail(journal.path, SOURCE, 0, lambda _: None)
    ships, hub = Shipper(own_valkey.redis, NODE, tail), StrictHub(own_valkey.redis)

    def ship_one_more() -> None:
        journal.record(JournalRepaired, repaired=SOURCE, cut_bytes=1)
        ships.step()

    ship_one_more()
    hub.take()
    ship_one_more()
    own_valkey.redis.delete(streams.events(NODE))

    def have_arrived() -> bool:
        ship_one_more()
        hub.take()
        return hub.has > 3

    wait_until(have_arrived, what="what follows the lost record to arrive")

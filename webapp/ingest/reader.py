"""Reads the nodes' event streams. Holds no state that a restart would miss: it begins at the beginning,
and what has been committed before is dropped by its sequence number."""

from __future__ import annotations

import logging
from typing import Any, cast

import redis

from agents.wire import streams

from .batch import Taken
from .entries import Entry, entry_from

log = logging.getLogger("regroup.ingest")

LONGEST_NAME = 100
"""What a row has room for."""
COUNT = 200
"""Entries of one batch and node at most: other writers get their turn between batches."""


class Reader:
    def __init__(self, client: redis.Redis) -> None:
        self._redis = client
        self._last: dict[str, str] = {}
        """node -> id of the last entry that was read."""
        self._refused: set[bytes] = set()

    @property
    def has_nodes(self) -> bool:
        return bool(self._last)

    def find_nodes(self) -> None:
        for name in cast("set[bytes]", self._redis.smembers(streams.NODES)):
            self._find(name)

    def _find(self, raw: bytes) -> None:
        """What cannot be a node's name is passed over: nothing of it could be kept."""
        name = raw.decode("utf-8", "replace")
        if 0 < len(name) <= LONGEST_NAME and "\0" not in name and name.encode() == raw:
            self._last.setdefault(name, "0-0")
        elif raw not in self._refused:
            self._refused.add(raw)
            log.warning("a node's name cannot be used name=%r", raw[:LONGEST_NAME])

    def read(self, block_ms: int) -> list[Entry]:
        """The next entries of all nodes, or nothing after ``block_ms``.

        Raises:
            redis.RedisError: Redis does not answer.
        """
        if not self._last:
            return []
        wanted: dict[Any, Any] = {streams.events(node): last for node, last in self._last.items()}
        answer = self._redis.xread(wanted, count=COUNT, block=block_ms)
        node_of = {streams.events(node).encode(): node for node in self._last}
        entries = []
        for stream, items in cast("list[tuple[bytes, list[Any]]]", answer or []):
            node = node_of[stream]
            for entry_id, fields in items:
                entries.append(entry_from(node, entry_id.decode(), fields))
                self._last[node] = entry_id.decode()
        return entries

    def start_over(self) -> None:
        """Read everything again that is still in the streams."""
        self._last = dict.fromkeys(self._last, "0-0")

    def acknowledge(self, taken: Taken) -> None:
        """Tell the nodes what is committed, and remove it. Killed before this: it is only read again."""
        pipeline = self._redis.pipeline(transaction=False)
        for node, acks in taken.acks.items():
            pipeline.hset(streams.acks(node), mapping=cast("dict[Any, Any]", acks))
        for node, ids in taken.done.items():
            pipeline.xdel(streams.events(node), *ids)
        pipeline.execute()

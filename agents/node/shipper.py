"""Carries every journal on this node to the hub, at least once and in order, until the database has it."""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path

from redis import Redis
from redis.typing import EncodableT, FieldT

from ..bundle import Bundle
from ..wire import streams
from .tail import Entry, Tail, needs_shipping, tail_bundle

log = logging.getLogger("regroup.agent")

WINDOW = 2000
"""Entries that may be in Redis without an acknowledgement."""

CHUNK = 250
"""Entries of one journal in one go, so that a busy one does not starve the others."""

BUSY_S, IDLE_S = 0.05, 1.0
"""Seconds between two looks at the journals: with and without something to wait for."""

HEAR_S, PERSIST_S = 0.25, 1.0
"""Seconds between two looks at the acknowledgements, and between two notes of them on the disk."""

STALL_S = 5.0
"""Seconds that a journal's acknowledgement stands still before it is asked whether something was lost."""


class Shipper:
    def __init__(
        self, redis: Redis, node: str, node_tail: Tail, trim: Callable[[int], bool] = lambda _: False
    ) -> None:
        """``trim`` cuts the node's own journal down to what is not acknowledged, if it is time for that."""
        self._redis = redis
        self._node = node
        self._node_tail = node_tail
        self._trim = trim
        self._bundles: dict[Path, tuple[Bundle, Tail]] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._epoch: str | None = None
        self._heard_at = self._persisted_at = 0.0

    def add(self, bundle: Bundle) -> None:
        """Ship this bundle's journal too, from now on. From any thread."""
        with self._lock:
            if bundle.folder not in self._bundles:
                self._bundles[bundle.folder] = (bundle, tail_bundle(bundle))
        self._wake.set()

    def wake(self) -> None:
        """There is a new record. From any thread."""
        self._wake.set()

    def step(self) -> None:
        self._wake.clear()
        if self._epoch is None:
            self._hear()
        is_short_of_room = self._ship()
        if self._is_unacked() and time.monotonic() - self._heard_at >= HEAR_S:
            self._hear()
        self._persist()
        self._forget_done()
        if self._node_tail.is_idle() and self._trim(self._node_tail.acked):
            self._node_tail.rewind()
        busy = bool(self._bundles) or self._is_unacked()
        if not is_short_of_room:
            self._wake.wait(BUSY_S if busy else IDLE_S)

    def ship_last(self) -> None:
        """One last pass before the daemon ends."""
        self._ship()
        self._hear()
        self._persist(now=True)

    def _tails(self) -> list[Tail]:
        with self._lock:
            return [self._node_tail, *(tail for _, tail in self._bundles.values())]

    def _is_unacked(self) -> bool:
        return any(tail.unacked for tail in self._tails())

    # -- there --

    def _ship(self) -> bool:
        """Whether more is ready than one pass may carry, and there is room for it."""
        room = WINDOW - sum(tail.unacked for tail in self._tails())
        batches = []
        for tail in self._tails():
            entries = tail.read(min(CHUNK, room))
            room -= len(entries)
            batches.append((tail, entries))
        # The node's journal is read first and sent last: what it says of a runner, such as that it
        # is settled, is never ahead of what that runner recorded before.
        pipe = self._redis.pipeline(transaction=False)
        for _, entries in reversed(batches):
            for entry in entries:
                pipe.xadd(streams.events(self._node), _fields(entry))
        if any(entries for _, entries in batches):
            pipe.execute()
        for tail, entries in batches:
            tail.note_shipped(len(entries))
        return room > 0 and any(len(entries) == CHUNK for _, entries in batches)

    # -- and back --

    def _hear(self) -> None:
        tails = self._tails()
        pipe = self._redis.pipeline(transaction=False)
        pipe.set(streams.EPOCH, secrets.token_hex(8), nx=True)
        pipe.get(streams.EPOCH)
        pipe.xlen(streams.events(self._node))
        pipe.hmget(streams.acks(self._node), [tail.source for tail in tails])
        _, epoch, length, acks = pipe.execute()
        self._heard_at = time.monotonic()
        for tail, ack in zip(tails, acks, strict=True):
            tail.note_acked(int(ack or 0))
        if self._epoch not in (None, epoch):
            self._send_again(tails, "redis has lost its data")
        elif lost := _lost(tails, length):
            self._send_again(lost, "what was sent is gone unacknowledged")
        self._epoch = epoch

    def _send_again(self, tails: list[Tail], why: str) -> None:
        log.warning("sending again from the journals node=%s why=%s", self._node, why)
        for tail in tails:
            tail.rewind()

    # -- housekeeping --

    def _persist(self, now: bool = False) -> None:
        if now or time.monotonic() - self._persisted_at >= PERSIST_S:
            self._persisted_at = time.monotonic()
            # A note that a full disk does not take costs a second sending after a restart, and no more.
            with contextlib.suppress(OSError):
                for tail in self._tails():
                    tail.persist()

    def _forget_done(self) -> None:
        for folder, (bundle, tail) in list(self._bundles.items()):
            if self._is_done(bundle, tail):
                with self._lock:
                    del self._bundles[folder]

    def _is_done(self, bundle: Bundle, tail: Tail) -> bool:
        if not bundle.folder.exists():  # it was removed for its age
            return True
        if not bundle.is_settled() or not tail.is_idle():
            return False
        tail.persist()
        return not needs_shipping(bundle)


def _lost(tails: list[Tail], length: int) -> list[Tail]:
    """Journals of which a record was lost on its way, as a fail-over of Redis may do, while others go on.

    An entry leaves the stream with its acknowledgement, or because one before it never came. So what is
    neither there nor acknowledged is lost; who waits for a slow hub has everything in the stream still.
    """
    if length >= sum(tail.unacked for tail in tails):
        return []
    return [tail for tail in tails if tail.has_waited(STALL_S)]


def _fields(entry: Entry) -> dict[FieldT, EncodableT]:
    return {
        streams.FIELD_SOURCE: entry.source,
        streams.FIELD_SEQ: entry.seq,
        streams.FIELD_BODY: entry.body,
    }

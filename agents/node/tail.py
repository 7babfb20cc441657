"""One journal on its way to the hub: read from the disk, shipped, acknowledged."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..bundle import Bundle
from ..journal import read_lines
from .journal import NodeJournal


@dataclass(frozen=True)
class Entry:
    source: str
    seq: int
    body: str


class Tail:
    """``acked`` is what the database has, ``shipped`` what Redis was given; both are sequence numbers."""

    def __init__(self, path: Path, source: str, acked: int, write_acked: Callable[[int], None]) -> None:
        self.path = path
        self.source = source
        self.acked = acked
        self.shipped = acked
        self._write_acked = write_acked
        self._persisted = acked
        self._offset = 0
        self._read = 0
        self._pending: deque[Entry] = deque()
        self._moved_at = 0.0

    @property
    def unacked(self) -> int:
        return self.shipped - self.acked

    def has_waited(self, seconds: float) -> bool:
        """What was shipped is unacknowledged, and that number has not moved for so long."""
        return bool(self.unacked) and time.monotonic() - self._moved_at > seconds

    def read(self, limit: int) -> list[Entry]:
        """What is to be shipped next, in order. Given again until ``note_shipped`` is called."""
        if len(self._pending) < limit:
            self._refill()
        while self._pending and self._pending[0].seq <= self.acked:
            self._pending.popleft()
        return [self._pending[i] for i in range(min(limit, len(self._pending)))]

    def _refill(self) -> None:
        if self._size() <= self._offset:
            return
        lines, self._offset = read_lines(self.path, self._offset)
        for line in lines:
            # A line that cannot be read keeps its place: the hub sets it aside under its number.
            self._read = line.seq if line.seq is not None else self._read + 1
            if self._read > self.acked:
                self._pending.append(Entry(self.source, self._read, line.text))

    def _size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def note_shipped(self, count: int) -> None:
        if not self.unacked:
            self._moved_at = time.monotonic()
        for _ in range(count):
            self.shipped = self._pending.popleft().seq

    def note_acked(self, seq: int) -> None:
        if seq <= self.acked:
            return
        self.acked = seq
        self.shipped = max(self.shipped, seq)
        self._moved_at = time.monotonic()

    def rewind(self) -> None:
        """Redis lost what it was given: ship again whatever is not acknowledged."""
        self.shipped = self.acked
        self._moved_at = time.monotonic()
        self._offset = self._read = 0
        self._pending.clear()

    def persist(self) -> None:
        if self._persisted < self.acked:
            self._write_acked(self.acked)
            self._persisted = self.acked

    def is_idle(self) -> bool:
        """Nothing is left to ship or to be acknowledged, as far as the file goes now."""
        return not self._pending and not self.unacked and self._size() <= self._offset


def tail_node(journal: NodeJournal) -> Tail:
    return Tail(journal.path, journal.source, journal.acked(), journal.write_acked)


def tail_bundle(bundle: Bundle) -> Tail:
    return Tail(bundle.journal, bundle.source(), bundle.acked(), bundle.write_acked)


def needs_shipping(bundle: Bundle) -> bool:
    """False for a bundle that has ended and whose every record the database has."""
    settled = bundle.settled()
    return settled is None or bundle.acked() < int(settled.get("last_seq", 0))

"""The node agent's own journal, and what it remembers of earlier daemons on the same data folder."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ..bundle import Bundle, read_json, write_aside
from ..journal import Journal, Line, read_lines
from ..wire import streams
from ..wire.event import NodeEvent
from ..wire.events import JournalRepaired

E = TypeVar("E", bound=NodeEvent)


@dataclass
class Memory:
    """Which once-only records are in the journal already."""

    received: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    settled: set[tuple[str, int]] = field(default_factory=set)
    """Attempt and incarnation of each runner."""

    def learn(self, kind: str, record: dict[str, Any]) -> None:
        if kind == "command_received":
            self.received.add(str(record.get("command")))
        elif kind == "command_ended":
            self.ended.add(str(record.get("command")))
        elif kind == "runner_settled":
            self.settled.add((str(record.get("attempt")), int(record.get("incarnation", 1))))

    def has_settled(self, bundle: Bundle) -> bool:
        return (bundle.attempt, bundle.incarnation) in self.settled


class NodeJournal:
    """``node.jsonl``, numbered from 1 under a source name that is new with each new file."""

    def __init__(self, data: Path, node: str) -> None:
        self.path = data / "node.jsonl"
        self.source = streams.node_source(node, _journal_id(data, self.path))
        self._acked_path = data / "node.acked.json"
        self._journal = Journal(self.path, self.source, node=node)
        self.memory = _remember(self.path)
        self.on_record: Callable[[], None] = lambda: None
        """Called after each record; the shipper sets it."""
        cut_bytes = self._journal.repaired.cut_bytes
        if cut_bytes:
            self.record(JournalRepaired, repaired=self.source, cut_bytes=cut_bytes)

    def record(self, cls: type[E], **fields: Any) -> E:
        event = self._journal.record(cls, **fields)
        self.memory.learn(str(cls.__dataclass_fields__["kind"].default), fields)
        self.on_record()
        return event

    @property
    def last_seq(self) -> int:
        return self._journal.last_seq

    def size(self) -> int:
        """Bytes on the disk."""
        return self.path.stat().st_size

    def cut(self, first_kept: Callable[[list[Line]], int]) -> bool:
        """See ``Journal.cut``."""
        return self._journal.cut(first_kept)

    def flush(self) -> bool:
        """Write what a full disk has not taken; whether nothing waits any more."""
        return self._journal.flush()

    def acked(self) -> int:
        values = read_json(self._acked_path) or {}
        return int(values.get("seq", 0)) if values.get("source") == self.source else 0

    def write_acked(self, seq: int) -> None:
        write_aside(self._acked_path, json.dumps({"source": self.source, "seq": seq}))


def _journal_id(data: Path, journal: Path) -> str:
    """The stored id, or a new one where the journal is gone: its numbers begin at 1 again."""
    path = data / "journal_id"
    if path.exists() and journal.exists():
        return path.read_text().strip()
    journal_id = secrets.token_hex(8)
    write_aside(path, journal_id)
    return journal_id


def _remember(path: Path) -> Memory:
    memory, offset = Memory(), 0
    while True:
        lines, new_offset = read_lines(path, offset)
        if new_offset == offset:
            return memory
        offset = new_offset
        for line in lines:
            if line.seq is not None:
                record = json.loads(line.text)
                memory.learn(str(record.get("kind")), record)

"""The workers of a bundle's newest round, as its runner recorded them; cheap to ask for again and again."""

from __future__ import annotations

import json
import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import procs
from ..bundle import Bundle
from ..procs import ProcessRef

_KIND = b'"kind":"workers_started"'


@dataclass(frozen=True)
class NodeWorker:
    rank: int
    local_rank: int
    ref: ProcessRef


@dataclass(frozen=True)
class NodeRound:
    """The part of a round that is on this node."""

    number: int
    workers: tuple[NodeWorker, ...]


class NewestRound:
    """Of one bundle. Its journal is searched from the end once, and read on from there afterwards."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._inode, self._offset = 0, 0
        self._found: NodeRound | None = None

    def read(self) -> NodeRound | None:
        """None: no worker has been started, or that was before the machine's last boot."""
        try:
            with self._bundle.journal.open("rb") as file:
                facts = Path(f"/proc/self/fd/{file.fileno()}").stat()
                if facts.st_ino != self._inode or facts.st_size < self._offset:
                    # It has been trimmed, or is looked at for the first time.
                    self._inode, self._offset = facts.st_ino, 0
                if facts.st_size > self._offset:
                    self._read_on(file.fileno())
        except FileNotFoundError:
            self._found = None
        return self._found

    def _read_on(self, fd: int) -> None:
        with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as text:
            end = text.rfind(b"\n") + 1
            at = text.rfind(_KIND, self._offset, end)
            if at >= 0:
                line = text[text.rfind(b"\n", 0, at) + 1 : text.find(b"\n", at)]
                self._found = self._understand(json.loads(line))
            self._offset = max(self._offset, end)

    def _understand(self, record: dict[str, Any]) -> NodeRound | None:
        runner = self._bundle.process()
        if runner is None or runner.boot_id != procs.boot_id():
            return None
        workers = tuple(
            NodeWorker(w["rank"], w["local_rank"], ProcessRef(w["pid"], w["start_time"], runner.boot_id))
            for w in record["workers"]
        )
        return NodeRound(int(record["round"]), workers)


def workers_of(bundle: Bundle, number: int) -> tuple[NodeWorker, ...]:
    """Those of that round; none when it is not the newest on this node."""
    newest = NewestRound(bundle).read()
    return newest.workers if newest is not None and newest.number == number else ()

"""The append-only journal: one JSON record a line, numbered 1, 2, 3 … by its single writer.

A record is written with one ``write`` call, so that a SIGKILL leaves at most a torn last
line, which ``repair`` cuts off. What is in the file survives the death of every process.
What a full disk does not take waits in memory, in order, until there is room.
"""

from __future__ import annotations

import contextlib
import errno
import json
import mmap
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .wire.event import Event
from .wire.plain import now, to_json

E = TypeVar("E", bound=Event)

MOST_WAITING = 10_000
"""Records that wait for room on the disk; beyond that new ones are dropped, without a number."""


@dataclass(frozen=True)
class Line:
    """A complete line of a journal. ``seq`` is None when the line cannot be read."""

    seq: int | None
    text: str


@dataclass(frozen=True)
class Repair:
    last_seq: int
    cut_bytes: int


class Journal:
    """The writer's side. ``base`` holds the fields that all its records share."""

    def __init__(self, path: Path, source: str, **base: Any) -> None:
        self.path = path
        self.source = source
        self._base = base
        self._lock = threading.Lock()
        self.repaired = repair(path)
        self._seq = self.repaired.last_seq
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._waiting: deque[bytes] = deque()
        self._problem = ""

    def record(self, cls: type[E], **fields: Any) -> E:
        """Write one record. A full disk is said once on stderr and does not stop the caller."""
        with self._lock:
            at = fields.pop("at", None) or now()
            event = cls(source=self.source, seq=self._seq + 1, at=at, **self._base, **fields)
            if len(self._waiting) < MOST_WAITING:
                self._seq += 1
                self._waiting.append(to_json(event).encode() + b"\n")
            self._write_waiting()
            return event

    def flush(self) -> bool:
        """Write what waits for room; whether nothing waits any more."""
        with self._lock:
            self._write_waiting()
            return not self._waiting

    @property
    def problem(self) -> str:
        """Why records wait; empty while none does."""
        return self._problem

    def _write_waiting(self) -> None:
        while self._waiting and self._write(self._waiting[0]):
            self._waiting.popleft()
        if self._problem and not self._waiting:
            self._problem = ""
            self._say("can be written again; all that waited is in it")

    def _write(self, data: bytes) -> bool:
        try:
            before = os.fstat(self._file).st_size
            if os.write(self._file, data) == len(data):
                return True
            os.ftruncate(self._file, before)
            self._say_waiting("the disk took only part of the record")
        except OSError as error:
            self._say_waiting(error.strerror or str(error))
        return False

    def _say_waiting(self, problem: str) -> None:
        if not self._problem:
            self._say(f"cannot be written: {problem}; records wait in memory until there is room")
        self._problem = problem

    def _say(self, what: str) -> None:
        # Where even this cannot be said, whoever writes records goes on all the same.
        with contextlib.suppress(OSError):
            print(f"journal {self.path} {what}", file=sys.stderr, flush=True)

    def cut(self, first_kept: Callable[[list[Line]], int]) -> bool:
        """Remove lines from the beginning; whether anything was removed.

        ``first_kept`` is given all lines and tells the index to keep from. The last line always stays, as
        the next writer counts on from it.
        """
        with self._lock:
            lines = read_all(self.path)
            index = min(first_kept(lines), len(lines) - 1)
            if index <= 0:
                return False
            self._replace(b"".join(line.text.encode() + b"\n" for line in lines[index:]))
            return True

    def _replace(self, data: bytes) -> None:
        """The new file is open for what follows before it takes the place of the old one."""
        aside = self.path.with_name(f"{self.path.name}.new")
        file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            if os.write(file, data) != len(data):
                raise OSError(errno.ENOSPC, "the disk took only a part", str(aside))
            os.fsync(file)
            aside.replace(self.path)
        except OSError:
            os.close(file)
            raise
        os.close(self._file)
        self._file = file

    @property
    def last_seq(self) -> int:
        return self._seq

    def close(self) -> None:
        os.close(self._file)


def _seq_of(text: bytes) -> int | None:
    try:
        seq = json.loads(text)["seq"]
    except (ValueError, TypeError, KeyError):
        return None
    return seq if isinstance(seq, int) else None


def read_lines(path: Path, offset: int, limit_bytes: int = 1 << 20) -> tuple[list[Line], int]:
    """Complete lines from a byte offset on, and the offset behind the last of them.

    At most about ``limit_bytes``; a torn last line is left for the next call.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read(limit_bytes)
            while data and b"\n" not in data:
                more = file.read(limit_bytes)
                if not more:
                    break
                data += more
    except FileNotFoundError:
        return [], offset
    end = data.rfind(b"\n") + 1
    lines = [Line(_seq_of(raw), raw.decode("utf-8", "replace")) for raw in data[:end].split(b"\n")[:-1]]
    return lines, offset + end


def read_all(path: Path) -> list[Line]:
    found: list[Line] = []
    offset = 0
    while True:
        lines, new_offset = read_lines(path, offset)
        if new_offset == offset:
            return found
        found += lines
        offset = new_offset


def repair(path: Path) -> Repair:
    """Cut a torn last line. Only for a journal whose writer is dead, or by the writer itself."""
    with _mapped(path) as text:
        size, whole = len(text), text.rfind(b"\n") + 1
        last_seq = _last_seq(text)
    if size > whole:
        os.truncate(path, whole)
    return Repair(last_seq, size - whole)


def last_line(path: Path) -> Line | None:
    """The last complete line of a journal whose writer is dead."""
    with _mapped(path) as text:
        raw = next(_backwards(text), None)
    return None if raw is None else Line(_seq_of(raw), raw.decode("utf-8", "replace"))


def _last_seq(text: mmap.mmap | bytes) -> int:
    """A line that cannot be read has the number after the one before it."""
    unreadable = 0
    for raw in _backwards(text):
        seq = _seq_of(raw)
        if seq is not None:
            return seq + unreadable
        unreadable += 1
    return unreadable


def _backwards(text: mmap.mmap | bytes) -> Iterator[bytes]:
    """Complete lines from the last on: journals grow long, and their end is what matters."""
    end = text.rfind(b"\n")
    while end >= 0:
        begin = text.rfind(b"\n", 0, end) + 1
        yield text[begin:end]
        end = begin - 1


@contextlib.contextmanager
def _mapped(path: Path) -> Iterator[mmap.mmap | bytes]:
    """A journal that nobody writes meanwhile; no bytes where there is none."""
    if not path.exists() or path.stat().st_size == 0:  # which cannot be mapped
        yield b""
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        yield text

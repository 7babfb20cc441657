"""The append-only journal: one JSON record a line, numbered 1, 2, 3 … by its single writer.

A record is written with one ``write`` call, so that a SIGKILL leaves at most a torn last
line, which ``repair`` cuts off. What is in the file survives the death of every process.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .wire.events import Event
from .wire.plain import now, to_json

E = TypeVar("E", bound=Event)


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
        self._said_full = False

    def record(self, cls: type[E], **fields: Any) -> E:
        """Write one record. A full disk is said once on stderr and does not stop the caller."""
        with self._lock:
            at = fields.pop("at", None) or now()
            event = cls(source=self.source, seq=self._seq + 1, at=at, **self._base, **fields)
            if self._write(to_json(event).encode() + b"\n"):
                self._seq += 1
            return event

    def _write(self, data: bytes) -> bool:
        try:
            before = os.fstat(self._file).st_size
            if os.write(self._file, data) == len(data):
                self._said_full = False
                return True
            os.ftruncate(self._file, before)
            self._say_unrecorded("the disk took only part of the record")
        except OSError as error:
            self._say_unrecorded(str(error))
        return False

    def _say_unrecorded(self, problem: str) -> None:
        if not self._said_full:
            self._said_full = True
            text = f"journal {self.path} cannot be written: {problem}; going on unrecorded"
            print(text, file=sys.stderr, flush=True)

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


def repair(path: Path) -> Repair:
    """Cut a torn last line. Only for a journal whose writer is dead, or by the writer itself."""
    last_seq, offset = 0, 0
    while True:
        lines, new_offset = read_lines(path, offset)
        if new_offset == offset:
            break
        for line in lines:
            last_seq = line.seq if line.seq is not None else last_seq + 1
        offset = new_offset
    size = path.stat().st_size if path.exists() else 0
    if size > offset:
        os.truncate(path, offset)
    return Repair(last_seq, size - offset)


def last_line(path: Path) -> Line | None:
    """The last complete line of a journal."""
    last, offset = None, 0
    while True:
        lines, new_offset = read_lines(path, offset)
        if new_offset == offset:
            return last
        last, offset = (lines[-1] if lines else last), new_offset

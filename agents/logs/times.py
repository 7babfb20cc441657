"""When the bytes of a stream were written, as far as somebody looked: notes in a file beside the log.

A note says: at that moment the log had grown to that offset, and at the look before, so many milliseconds
earlier, it had not. So the time of a line is known to within one look. The file stays small: when it is full,
every second note goes, and times long ago get coarser.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from pathlib import Path

FIELDS = 3
NOTE_BYTES = 8 * FIELDS
MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Moment:
    """``at_ms`` is the latest that it can be, by the node's clock; the earliest is ``within_ms`` before."""

    at_ms: int
    within_ms: int | None


class Times:
    """The notes of one stream, oldest first."""

    def __init__(self, values: array[int]) -> None:
        self._values = values
        self._count = len(values) // FIELDS

    def with_end(self, at_ms: int, offset: int) -> Times:
        """And one more, of somebody who does not know when it had not grown yet."""
        last_ms, last = (self._at(self._count - 1), self._offset(self._count - 1)) if self._count else (0, 0)
        if offset <= last:
            return self
        # Where nothing was ever noted, how old a line may be is not known.
        within = at_ms - last_ms if self._count and at_ms > last_ms else -1
        return Times(self._values + array("q", [max(at_ms, last_ms), offset, within]))

    @property
    def end(self) -> int:
        """Up to which offset anything is known."""
        return self._offset(self._count - 1) if self._count else 0

    def at(self, offset: int) -> Moment | None:
        """When the line that begins there was written; None: nobody has looked since."""
        index = bisect_right(range(self._count), offset, key=self._offset)
        if index == self._count:
            return None
        within = self._values[index * FIELDS + 2]
        return Moment(self._at(index), None if within < 0 else within)

    def offset_before(self, at_ms: int) -> int:
        """Lines that begin before it have a time earlier than that; all others have not."""
        index = bisect_left(range(self._count), at_ms, key=self._at)
        return self._offset(index - 1) if index else 0

    def _at(self, index: int) -> int:
        return self._values[index * FIELDS]

    def _offset(self, index: int) -> int:
        return self._values[index * FIELDS + 1]


def times_path(log: Path) -> Path:
    return log.with_suffix(".times")


def read_times(log: Path) -> Times:
    """No notes where there are none. A torn last one, of a full disk, is left out."""
    try:
        data = times_path(log).read_bytes()
    except OSError:
        data = b""
    return decode(data)


def decode(data: bytes) -> Times:
    values = array("q")
    values.frombytes(data[: len(data) // NOTE_BYTES * NOTE_BYTES])
    return Times(values)


def encode(at_ms: int, offset: int, within_ms: int) -> bytes:
    return array("q", [at_ms, offset, within_ms]).tobytes()


def thinned(data: bytes) -> bytes:
    """Every second note: each stands for the one before it, too."""
    values = decode(data)._values
    kept = array("q")
    for index in range(FIELDS, len(values), 2 * FIELDS):
        at, offset, _ = values[index : index + FIELDS]
        before_at, _, before_within = values[index - FIELDS : index]
        kept.extend([at, offset, at - before_at + max(0, before_within)])
    return kept.tobytes()


def append(log: Path, note: bytes) -> None:
    """Raises ``OSError``. After a torn note of an earlier, full disk the file begins anew."""
    path = times_path(log)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        if size % NOTE_BYTES:
            os.ftruncate(descriptor, size - size % NOTE_BYTES)
        os.write(descriptor, note)
    finally:
        os.close(descriptor)
    if size + NOTE_BYTES > MOST_BYTES:
        _thin(path)


def _thin(path: Path) -> None:
    aside = path.with_name(f"{path.name}.new")
    aside.write_bytes(thinned(path.read_bytes()))
    aside.replace(path)

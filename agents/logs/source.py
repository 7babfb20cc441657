"""One stream of one worker as readers see it: bytes from a first one on, and when they were written."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from .times import Times, read_times

Stream = Literal["stdout", "stderr"]
STREAMS: tuple[Stream, ...] = ("stdout", "stderr")

PAUSE_S = 1.0
"""A last line without an end is given once its writer has paused for so long: it may be all there is."""
UNNOTED_MS = 1500
"""What nobody has noted for so long is taken for written when the file last changed."""


class LogSource(Protocol):
    """Whoever has the bytes. ``size``, ``floor`` and ``is_paused`` are of one moment."""

    @property
    def rank(self) -> int: ...
    @property
    def stream(self) -> Stream: ...
    @property
    def size(self) -> int: ...
    @property
    def floor(self) -> int:
        """The first byte that is still there: what was before has been dropped."""
        ...

    @property
    def is_paused(self) -> bool: ...
    @property
    def times(self) -> Times: ...
    @property
    def unnoted_since_ms(self) -> int | None:
        """No byte of which the time is not known yet was written before; None: of all it is known."""
        ...

    def read(self, start: int, count: int) -> bytes: ...


@dataclass
class FileSource:
    """A log on this machine's disk."""

    rank: int
    stream: Stream
    path: Path
    descriptor: int
    size: int
    floor: int
    changed_ms: int
    held_from: int = 0
    """What is before is there, but not in this file: a search ends here, and says so."""
    _times: Times | None = field(default=None, repr=False)

    @property
    def is_paused(self) -> bool:
        return time.time() - self.changed_ms / 1000 > PAUSE_S

    @property
    def times(self) -> Times:
        if self._times is None:
            noted = read_times(self.path)
            is_left = time.time() * 1000 - self.changed_ms > UNNOTED_MS
            self._times = noted.with_end(self.changed_ms, self.size) if is_left else noted
        return self._times

    @property
    def unnoted_since_ms(self) -> int | None:
        return self.changed_ms if self.times.end < self.size else None

    def read(self, start: int, count: int) -> bytes:
        return os.pread(self.descriptor, max(0, min(count, self.size - start)), start)


@contextmanager
def open_log(path: Path, rank: int, stream: Stream) -> Iterator[FileSource]:
    """Raises ``OSError``, of which ``FileNotFoundError`` says that nothing was ever written."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        facts = os.fstat(descriptor)
        floor = first_byte(descriptor, facts.st_size)
        yield FileSource(rank, stream, path, descriptor, facts.st_size, floor, int(facts.st_mtime * 1000))
    finally:
        os.close(descriptor)


def first_byte(descriptor: int, size: int) -> int:
    """Behind the hole at the beginning of a file; 0 where there is none, or the system tells of none."""
    try:
        return os.lseek(descriptor, 0, os.SEEK_DATA)
    except OSError as error:
        return size if error.errno == errno.ENXIO else 0

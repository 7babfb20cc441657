"""Keeps each stream of a job within its ``log_max_bytes``: what is older is given back to the disk.

Workers write straight into their files, so a file cannot be exchanged under them. Its beginning is made a
hole instead: offsets stay what they are, readers begin behind the hole, and the worker notices nothing.
"""

from __future__ import annotations

import ctypes
import errno
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..bundle import Bundle, list_bundles
from ..logs.source import first_byte
from .troubles import Troubles

EVERY_S = 2.0
PUNCH = 0x01 | 0x02
"""FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE."""
BLOCK_BYTES = 1 << 16
"""Holes end at multiples of it, whatever the size of the filesystem's blocks."""
SLACK_BYTES = 1 << 18
"""A hole grows by no less, so that a busy stream is not cut at every look."""
TROUBLE = "holes in files"
_CANNOT = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class LogCaps:
    def __init__(self, data: Path, troubles: Troubles) -> None:
        self._data = data
        self._troubles = troubles
        self._done: set[Path] = set()
        """Bundles that have been settled since, and were looked at after that."""

    def step(self, stopping: threading.Event) -> None:
        self.look()
        stopping.wait(EVERY_S)

    def look(self) -> None:
        for bundle in list_bundles(self._data, Bundle):
            if bundle.folder not in self._done:
                is_settled = bundle.is_settled()
                self._keep_within(bundle)
                if is_settled:
                    self._done.add(bundle.folder)

    def _keep_within(self, bundle: Bundle) -> None:
        message = bundle.message()
        if message is None:
            return
        for path in _newest_streams(bundle):
            try:
                cut(path, message.spec.log_max_bytes)
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno not in _CANNOT:
                    raise
                self._say_cannot()
                return

    def _say_cannot(self) -> None:
        self._troubles.note(
            TROUBLE,
            f"The filesystem of {self._data} cannot give back the beginning of a file, so that logs are not "
            "kept within log_max_bytes. Keep the node agent's data on ext4, XFS, Btrfs or tmpfs.",
        )


def _newest_streams(bundle: Bundle) -> Iterator[Path]:
    """Of the last two rounds: an earlier one has no writer any more, and was looked at when it had."""
    with suppress(FileNotFoundError):
        rounds = sorted(int(name) for name in os.listdir(bundle.folder / "rounds") if name.isdecimal())
        for number in rounds[-2:]:
            yield from bundle.round_folder(number).glob("rank-*/std*.log")


def cut(path: Path, most_bytes: int) -> int:
    """Drop the beginning of a file that is longer. Gives how many bytes of it are gone.

    Raises:
        OSError: the file is not there, or its filesystem has no holes.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        wanted = (size - most_bytes) // BLOCK_BYTES * BLOCK_BYTES
        if wanted <= 0:
            return 0
        gone = first_byte(descriptor, size)
        if wanted - gone < min(SLACK_BYTES, most_bytes // 4):
            return gone
        _punch(descriptor, wanted, path)
        return wanted
    finally:
        os.close(descriptor)


def _punch(descriptor: int, count: int, path: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    zero, length = ctypes.c_int64(0), ctypes.c_int64(count)
    if libc.fallocate(descriptor, PUNCH, zero, length) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))

"""Watches the disk of the data folder, and holds some room in reserve for what must still be noted on it.

On a full disk a stop, which may be what ends the trouble, must still be noted before it is carried out.
So a file of a few MiB lies there, and is given up when nothing else is left.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

from .troubles import Troubles

PERIOD_S = 1.0
RESERVE_BYTES = 8 << 20
FULL_BYTES = 1 << 20
"""Less than this is no room at all."""
LOW_BYTES = 256 << 20
LOW_SHARE = 0.02
"""Below both the disk is called nearly full."""


class Disk:
    def __init__(self, data: Path, troubles: Troubles, flush: Callable[[], bool]) -> None:
        """``flush`` writes what has waited for room, and tells whether nothing waits any more."""
        self._data = data
        self._reserve = data / "reserve"
        self._troubles = troubles
        self._flush = flush

    def step(self, stopping: threading.Event) -> None:
        self.look()
        stopping.wait(PERIOD_S)

    def look(self) -> None:
        free, size = _room(self._data)
        if free < FULL_BYTES:
            self._give_up_reserve()
        elif free > 4 * RESERVE_BYTES and not self._reserve.exists():
            self._make_reserve()
        if not self._flush():
            self._troubles.note("journal", "The node's records cannot be written; they wait in memory.")
        else:
            self._troubles.clear("journal")
        self._judge(free, size)

    def _judge(self, free: int, size: int) -> None:
        if free < min(LOW_BYTES, int(size * LOW_SHARE)) or free < FULL_BYTES:
            state = "is full" if free < FULL_BYTES else "is nearly full"
            self._troubles.note(
                "disk",
                f"The disk of the data folder {self._data} {state}: {free >> 20} MiB of {size >> 20} MiB "
                "are free. Make room there, or jobs on this node will fail.",
            )
        else:
            self._troubles.clear("disk")

    def _give_up_reserve(self) -> None:
        with contextlib.suppress(OSError):
            self._reserve.unlink(missing_ok=True)

    def _make_reserve(self) -> None:
        with contextlib.suppress(OSError), self._reserve.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)


def _room(folder: Path) -> tuple[int, int]:
    """(free for us, in all) in bytes."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize

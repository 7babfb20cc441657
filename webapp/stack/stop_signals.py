"""Ctrl-C, SIGTERM and a closed terminal as something to wait for, not an exception out of nowhere."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from types import FrameType


class StopSignals:
    """Counts requests to stop. The first asks for an orderly end, each further one for a shorter one."""

    def __init__(self) -> None:
        self.count = 0
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1
        os.write(self._wake_write, b"!")

    def wait(self, timeout_s: float, seen: int = 0) -> bool:
        """Wait until more than ``seen`` requests have come, at most that long. Whether they have."""
        if self.count <= seen:
            select.select([self._wake_read], [], [], timeout_s)
            with suppress(BlockingIOError):
                os.read(self._wake_read, 64)
        return self.count > seen

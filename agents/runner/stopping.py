"""Signals of a runner: a stop is a wish looked at between steps, never an exception in the midst of one.

SIGTERM, SIGINT and SIGQUIT ask to stop. SIGUSR1 and SIGUSR2 belong to the workers. SIGHUP does nothing.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable
from types import FrameType


class StopRequested(Exception):
    """The runner was asked to stop. ``signal_name`` says by what."""

    def __init__(self, signal_name: str) -> None:
        super().__init__(f"stopped on request ({signal_name})")
        self.signal_name = signal_name


class StopRequest:
    """Handlers are installed before anything slow, so that a signal is never lost or deadly."""

    def __init__(self) -> None:
        self.signal_name: str | None = None
        self.forward: Callable[[int], None] = lambda signum: None
        """Hands a user signal to the workers that live."""
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)

    def install(self) -> None:
        for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            signal.signal(signum, self._ask)
        for signum in (signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(signum, self._pass_on)
        # Not SIG_IGN: that would be inherited by the workers.
        signal.signal(signal.SIGHUP, lambda signum, frame: None)

    def _ask(self, signum: int, frame: FrameType | None) -> None:
        self.signal_name = self.signal_name or signal.Signals(signum).name
        with contextlib.suppress(BlockingIOError):
            os.write(self._write, b"!")

    def _pass_on(self, signum: int, frame: FrameType | None) -> None:
        self.forward(signum)

    def check(self) -> None:
        """Raises ``StopRequested`` when a stop was asked for."""
        if self.signal_name is not None:
            raise StopRequested(self.signal_name)

    def fileno(self) -> int:
        """Can be read once a stop was asked for."""
        return self._read

    def pause(self, seconds: float) -> None:
        """Sleep, but no longer than until a stop is asked for, which is raised."""
        select.select([self._read], [], [], seconds)
        self.check()

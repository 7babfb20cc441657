"""Signals of a runner: a stop is a wish looked at between steps, never an exception in the midst of one.

SIGTERM, SIGINT and SIGQUIT ask to stop. SIGUSR1 and SIGUSR2 belong to the workers. SIGHUP does nothing.
Those two and SIGHUP are noted in runner.log.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from types import FrameType

from ..bundle import Bundle


class StopRequested(Exception):
    """The runner was asked to stop. ``signal_name`` says by what."""

    def __init__(self, signal_name: str) -> None:
        super().__init__(f"stopped on request ({signal_name})")
        self.signal_name = signal_name


def ends_attempt(bundle: Bundle) -> bool:
    """Whether the attempt is to end for all nodes. Else this one leaves, and the others go on."""
    noted = bundle.stopping()
    return noted is not None and not noted.get("leave")


class StopRequest:
    """Handlers are installed before anything slow, so that a signal is never lost or deadly."""

    def __init__(self) -> None:
        self.signal_name: str | None = None
        self.asked_at = 0.0
        """When it was asked first, in seconds, monotonic."""
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
        signal.signal(signal.SIGHUP, self._note_hang_up)

    def _ask(self, signum: int, frame: FrameType | None) -> None:
        self.asked_at = self.asked_at or time.monotonic()
        self.signal_name = self.signal_name or signal.Signals(signum).name
        with contextlib.suppress(BlockingIOError):
            os.write(self._write, b"!")

    def _pass_on(self, signum: int, frame: FrameType | None) -> None:
        _note(f"{signal.Signals(signum).name} came and goes to the workers, as a notice of preemption")
        self.forward(signum)

    def _note_hang_up(self, signum: int, frame: FrameType | None) -> None:
        _note("SIGHUP came, as when a terminal or session is closed: nothing is done to the job")

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


def _note(text: str) -> None:
    """Without a buffer, which the signal may have come in the midst of."""
    with contextlib.suppress(OSError):
        os.write(2, f"{text}\n".encode())

"""A worker that a fork server started, with the face of ``subprocess.Popen`` as far as it is looked at."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time

from ...procs import start_time
from ..waking import wait_readable
from .halted import Halted, Started

LOOK_S = 0.02


class Forked:
    """``lost_with`` says how the fork server ended that took it along; its own end is not known then."""

    def __init__(self, server: Halted, serial: int, started: Started) -> None:
        self._server, self._serial = server, serial
        self.pid, self.start_time = started.pid, started.start_time
        self.returncode: int | None = None
        self.lost_with = ""

    @property
    def sentinel(self) -> int | None:
        """Can be read when the worker may have ended; None when nothing will tell."""
        return None if self._server.death else self._server.status

    def poll(self) -> int | None:
        self._server.take()
        if self.returncode is None:
            self.returncode = self._server.exit_code(self._serial)
        if self.returncode is None and self._server.death and start_time(self.pid) != self.start_time:
            self.returncode, self.lost_with = -signal.SIGKILL, self._server.death
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Raises ``subprocess.TimeoutExpired`` as ``Popen`` does."""
        deadline = time.monotonic() + (timeout if timeout is not None else float("inf"))
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            wait_readable([] if self.sentinel is None else [self.sentinel], LOOK_S)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, signum: int) -> None:
        """To that very process, if it still runs."""
        if start_time(self.pid) == self.start_time:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signum)

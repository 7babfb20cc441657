"""The runner's side of ``log_watch.py``: one process for all rounds, begun anew when it dies."""

from __future__ import annotations

import functools
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..bundle import Bundle
from ..procs import MARK

PROGRAM = Path(__file__).with_name("log_watch.py")
AGAIN_S = 5.0
"""One that died is begun anew after so long."""
CATCH_UP_S = 0.3
"""How long the end of a round waits for the last lines to be read."""


@functools.cache
def _watcher(folder: Path) -> LogWatcher | None:
    message = Bundle(folder).message()
    if message is None:
        return None
    spec = message.spec
    healthy = spec.stall_log_regex if spec.stall_log_every_s is not None else ""
    return LogWatcher(spec.log_metrics, healthy) if spec.log_metrics or healthy else None


def watcher_of(bundle: Bundle) -> LogWatcher | None:
    """The same for everybody in this process. None: nothing of the job is read from its output."""
    return _watcher(bundle.folder)


class LogWatcher:
    """For one thread at a time. Whatever becomes of the process, no call raises or waits long."""

    def __init__(self, patterns: tuple[str, ...], healthy: str = "") -> None:
        """``healthy``: what lines match that tell that a worker is not stalled. Empty: not looked for."""
        self._patterns, self._healthy = patterns, healthy
        self._process: subprocess.Popen[bytes] | None = None
        self._begun_at = float("-inf")
        self._ranks: dict[str, str] = {}
        self._asked = 0

    def watch(self, folders: Mapping[int, Path]) -> None:
        """From now on it reads what these ranks write."""
        self._ranks = {str(rank): str(folder) for rank, folder in folders.items()}
        if self._is_there():
            self._tell({"ranks": self._ranks})
        else:
            self._begin()

    def keep(self) -> None:
        """Call now and then: begins it anew if it has died."""
        if self._ranks and not self._is_there() and time.monotonic() - self._begun_at >= AGAIN_S:
            self._begin()

    def catch_up(self) -> None:
        """Wait until it has read all that was written so far, but not for long."""
        if not self._is_there() or self._process is None or self._process.stdout is None:
            return
        self._asked += 1
        self._tell({"catch_up": self._asked})
        answers, deadline = self._process.stdout.fileno(), time.monotonic() + CATCH_UP_S
        while (left_s := deadline - time.monotonic()) > 0:
            if not select.select([answers], [], [], left_s)[0]:
                return
            told = os.read(answers, 4096)
            if not told or told.split()[-1] == b"%d" % self._asked:
                return

    def _is_there(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _begin(self) -> None:
        self._begun_at = time.monotonic()
        # It is no part of the job: the node agent need not look for it, as it ends with its stdin.
        env = {name: value for name, value in os.environ.items() if name != MARK}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                cwd="/",
                env=env,
            )
        except OSError as error:
            self._process = None
            print(f"log_metrics: the process that reads logs cannot be started: {error}", flush=True)
            return
        if self._process.stdin is not None:
            # One that stands still must not hold up the runner when the pipe is full.
            os.set_blocking(self._process.stdin.fileno(), False)
        self._tell({"patterns": self._patterns, "healthy": self._healthy, "ranks": self._ranks})

    def _tell(self, message: dict[str, Any]) -> None:
        try:
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.write(json.dumps(message).encode() + b"\n")
        except OSError:
            # It has died, or does not read: ended for good, and begun anew by ``keep``.
            self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()

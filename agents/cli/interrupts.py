"""Ctrl-C and SIGTERM while a job is followed: noted at once, acted upon between two steps.

So no line is printed in halves. A second one ends the command where it is.
"""

from __future__ import annotations

import signal
import time
from types import FrameType, TracebackType
from typing import Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
SLICE_S = 0.1
"""A handler does not end a sleep; so none is longer."""


class Interrupts:
    """Within ``with``: the first signal is kept in ``came``, the next raises ``KeyboardInterrupt``."""

    def __init__(self) -> None:
        self.came: signal.Signals | None = None
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # as it was given to us

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.came is not None:
            raise KeyboardInterrupt
        self.came = signal.Signals(number)

    def sleep(self, seconds: float) -> None:
        """No longer than until a signal comes."""
        end = time.monotonic() + seconds
        while self.came is None and (left := end - time.monotonic()) > 0:
            time.sleep(min(SLICE_S, left))

    def forget(self) -> None:
        """It has been dealt with, and the next is a first one again."""
        self.came = None

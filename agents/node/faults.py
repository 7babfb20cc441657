"""The lasting faults that run on this node, so that all of them can be ended at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..wire.events import FaultBegun
from .journal import NodeJournal

TOLD_S = 3.0
"""What it may take until the hub has what was recorded, before the node falls silent."""


class Faults:
    """From any thread."""

    def __init__(self, journal: NodeJournal) -> None:
        self._journal = journal
        self._running: dict[str, threading.Event] = {}
        self._changed = threading.Condition()

    @contextmanager
    def running(self, command_id: str) -> Iterator[threading.Event]:
        """The event is set once the fault is to end before its time."""
        ending = threading.Event()
        with self._changed:
            self._running[command_id] = ending
        try:
            yield ending
        finally:
            with self._changed:
                del self._running[command_id]
                self._changed.notify_all()

    def say_begun(self, command_id: str, says: str) -> None:
        self._journal.record(FaultBegun, command=command_id, says=says)

    def await_told(self) -> None:
        """Until the hub has all that is recorded so far, or cannot be expected to."""
        seq, deadline = self._journal.last_seq, time.monotonic() + TOLD_S
        while self._journal.acked() < seq and time.monotonic() < deadline:
            time.sleep(0.05)

    def stop_all(self, timeout_s: float) -> tuple[int, int]:
        """End them all; gives how many ran, and how many of them still do when the time is up."""
        with self._changed:
            asked = list(self._running.values())
            for ending in asked:
                ending.set()
            self._changed.wait_for(lambda: not self._is_any_of(asked), timeout_s)
            return len(asked), sum(ending in self._running.values() for ending in asked)

    def _is_any_of(self, asked: list[threading.Event]) -> bool:
        return any(ending in self._running.values() for ending in asked)

"""What to do while the hub is away: say so once, ask again ever more rarely, and say when it is back."""

from __future__ import annotations

import time
from collections.abc import Callable

from .refusals import Unreachable

FIRST_S, LONGEST_S = 0.25, 5.0


class Patience:
    """Counts failures in a row. ``sleep`` is left out of tests."""

    def __init__(self, say: Callable[[str], None], sleep: Callable[[float], None] = time.sleep) -> None:
        self._say, self._sleep = say, sleep
        self._pause_s = 0.0

    def bear(self, error: Unreachable) -> None:
        """Wait before another try."""
        if self._pause_s == 0.0:
            self._say(f"{error} Asking again until it answers.")
        self._pause_s = min(LONGEST_S, 2 * self._pause_s or FIRST_S)
        self._sleep(self._pause_s)

    def relax(self) -> None:
        """It has answered."""
        if self._pause_s:
            self._say("The hub answers again.")
        self._pause_s = 0.0

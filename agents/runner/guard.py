"""Failures that repeat themselves as soon as workers start: each try is later, and soon there is none. Pure.

A job that cannot even start, such as one that finds a torn checkpoint, would spend its whole budget on
one and the same error.
"""

from __future__ import annotations

from dataclasses import dataclass

EARLY_S = 30.0
"""What fails later than this after the start of its workers has done more, even on a slow machine."""
TRIES = 3
"""How many failures alike, one after the other, are enough."""


@dataclass(frozen=True)
class Streak:
    """The failures of one node's workers that were alike, in rounds that followed each other, up to now."""

    failure: str = ""
    """What is the same about them."""
    after_s: tuple[float, ...] = ()
    """How long after the start of its workers each of them came."""

    @property
    def is_hopeless(self) -> bool:
        return len(self.after_s) >= TRIES

    @property
    def pause_s(self) -> float:
        """How long to wait before the next try: 0 s after the first, then 1, 2, 4 …"""
        return 2.0 ** (len(self.after_s) - 2) if len(self.after_s) > 1 else 0.0


def follow(streak: Streak, failure: str | None, after_s: float, has_progressed: bool) -> Streak:
    """What a round makes of it that ended ``after_s`` after the start of its workers.

    ``failure`` is the same text for the same failure, and empty for one that is like no other. None: no
    worker here failed by itself, which says nothing about the failures before.
    """
    if has_progressed or after_s > EARLY_S or failure == "":
        return Streak()
    if failure is None:
        return streak
    before = streak.after_s if failure == streak.failure else ()
    return Streak(failure, (*before, after_s))

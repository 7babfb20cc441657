"""How long a store is kept that nobody uses. Pure."""

from __future__ import annotations

from dataclasses import dataclass

STOPPED_S = 3.0
"""The same once the attempt is being stopped, or its only runner has ended."""
LONGEST_LOOK_S = 1.0
"""More than that between two looks is this process's own pause, and nobody's absence."""

ENDED = "the attempt has ended, and every runner has left"


@dataclass(frozen=True)
class Look:
    """What was seen of the attempt at one moment."""

    someone_is_there: bool
    has_ended: bool
    is_stopping: bool = False


class Patience:
    """Shown one look after the other.

    ``join_s``: how long the first runner may take to come. ``away_s``: how long all may be away later.
    """

    def __init__(self, join_s: float, away_s: float, now: float) -> None:
        self._join_s, self._away_s = join_s, away_s
        self._looked_at = now
        self._alone_s = 0.0
        self._someone_was_there = False

    def why_over(self, look: Look, now: float) -> str | None:
        """Why the store need not be kept any longer. ``now``: seconds, monotonic."""
        passed_s, self._looked_at = min(now - self._looked_at, LONGEST_LOOK_S), now
        if look.someone_is_there:
            self._someone_was_there, self._alone_s = True, 0.0
            return None
        self._alone_s += passed_s
        if look.has_ended:
            return ENDED
        return None if self._alone_s < self._limit_s(look) else self._say_alone(look)

    def _limit_s(self, look: Look) -> float:
        if look.is_stopping:
            return STOPPED_S
        return self._away_s if self._someone_was_there else self._join_s

    def _say_alone(self, look: Look) -> str:
        if look.is_stopping:
            return "the attempt is over, and no runner is left"
        if self._someone_was_there:
            return f"no runner of the attempt has been there for {self._away_s:.0f} s"
        return f"no runner of the attempt came within {self._join_s:.0f} s (join_timeout)"

"""How the minutes of a whole benchmark are shared out: slow cases have fewer turns, late ones none."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .cases import Case, Kind

WHOLE_S = 20 * 60.0
"""For all cases together."""
LAST_S = 90.0
"""A group ends at most so long after its time: its last turn, and what it ends."""
WEIGHTS: Mapping[Kind, float] = {"kill": 3.0, "step": 1.5, "launch": 1.0}
OF_A_CHANGE = 2.0


@dataclass(frozen=True)
class TimeLimit:
    """``ends_at`` by the monotonic clock; infinity where there is no limit."""

    ends_at: float = math.inf

    @classmethod
    def of_all(cls) -> TimeLimit:
        return cls(time.monotonic() + WHOLE_S - LAST_S)

    def left_out(self, group: Sequence[Case]) -> str:
        """Why this group is not begun any more; empty while there is time."""
        if time.monotonic() < self.ends_at:
            return ""
        names = ",".join(case.name for case in group)
        return f"{names}: left out, as the time was used up. Measure it alone: make bench CASE={names}"

    def until(self, groups: Sequence[Sequence[Case]]) -> float:
        """When the first of these groups begins no more turns: what is left is shared out by weight."""
        now = time.monotonic()
        if math.isinf(self.ends_at):
            return math.inf
        weights = [WEIGHTS.get(group[0].kind, OF_A_CHANGE) for group in groups]
        return now + max(0.0, self.ends_at - now) * weights[0] / sum(weights)

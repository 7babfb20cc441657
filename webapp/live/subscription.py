"""One topic that one socket watches: what was sent last, and what is to be sent next."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field

from .frames import Json, frame_text
from .readings import Reading, Readings, readings_of


@dataclass
class Subscription:
    topic: str
    n: int = 0
    """Frames that were sent."""
    last: Json | None = None
    dirty: bool = False
    since: float = 0.0
    """What is sent next was read later than that, by the monotonic clock."""
    readings: Readings = field(init=False)

    def __post_init__(self) -> None:
        self.readings = readings_of(self.topic)

    def mark(self, age_s: float = 0.0) -> None:
        """There may be something new. ``age_s``: how old a reading may be that shows it."""
        self.dirty, self.since = True, max(self.since, time.monotonic() - age_s)

    def start_over(self) -> None:
        self.last, self.n = None, 0

    def next_frame(self, reading: Reading) -> str | None:
        """As text; None when nothing differs."""
        before, self.last = self.last, reading.data
        if before is None:
            self.n = 1
            return frame_text("snapshot", self.topic, 1, reading.version, json.dumps({"data": reading.data}))
        change = self.readings.change(before, reading.data)
        if change is None:
            return None
        self.n += 1
        return frame_text("change", self.topic, self.n, reading.version, change)

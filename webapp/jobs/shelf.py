"""What was read of a job is held until there is news of it.

``Job.story`` grows in the transaction of each change but those of a job that just trains on. So what was read
for the value that it has now is what the rows say now.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from typing import Generic, TypeVar

from .models import Job

T = TypeVar("T")
Key = tuple[datetime, int]
"""When a job was made, and the value of its ``story``."""


class Shelf(Generic[T]):
    """Of one process, whichever of its threads asks."""

    def __init__(self, read: Callable[[Job], T], most: int) -> None:
        """``read`` looks at nothing that changes without news. ``most``: jobs of which something is held."""
        self.read = read
        self.most = most
        self._held: dict[int, tuple[Key, T]] = {}
        self._lock = threading.Lock()

    def of(self, job: Job) -> T:
        """Call within ``one_moment``, in which the job was read too. Nobody may change what it gives."""
        key = (job.created_at, job.story)
        held = self._held.get(job.pk)
        if held is not None and held[0] == key:
            return held[1]
        value = self.read(job)
        with self._lock:
            self._held[job.pk] = key, value
            if len(self._held) > self.most:
                del self._held[next(iter(self._held))]
        return value

"""How much ingest takes at once: so little that whoever else wants to write does not wait long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from webapp.database import let_others_first

BATCH_S = 0.1
"""What one batch should take, also on a machine that is busy."""
LEAST, MOST = 10, 500
"""Entries of one batch."""
GIVE_WAY_S = 0.5
"""How long others may go first before ingest has its turn too."""


class Pace:
    def __init__(self) -> None:
        self.size = 50
        """Entries that the next batch may have."""

    @contextmanager
    def batch(self, entries: int) -> Iterator[None]:
        """Around one batch of so many entries."""
        let_others_first(GIVE_WAY_S)
        begun = time.monotonic()
        yield
        if entries == self.size:
            # A shorter one tells little: each batch has costs of its own.
            self._adapt(time.monotonic() - begun)

    def _adapt(self, took_s: float) -> None:
        fitting = self.size * BATCH_S / max(took_s, 0.001)
        self.size = round(min(MOST, max(LEAST, (self.size + fitting) / 2)))

"""Django's SQLite, with a line for those who want to write.

SQLite itself knows none: whoever waits looks again now and then, and one process that writes all the time
keeps all others out for seconds. So who waits says so, and ingest lets them go first.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db.backends.sqlite3 import base

LOOK_AGAIN_S = 0.001


class DatabaseWrapper(base.DatabaseWrapper):
    def _start_transaction_under_autocommit(self) -> None:
        with _opened(line_of(self.settings_dict["NAME"])) as line:
            if line is not None:
                fcntl.flock(line, fcntl.LOCK_SH)
            # The stubs leave it out.
            super()._start_transaction_under_autocommit()  # type: ignore[misc]

    def let_others_first(self, limit_s: float) -> None:
        """Wait until nobody waits any more, or for ``limit_s``."""
        line, until = line_of(self.settings_dict["NAME"]), time.monotonic() + limit_s
        while time.monotonic() < until and somebody_waits(line):
            time.sleep(LOOK_AGAIN_S)


def line_of(database: Path | str) -> str:
    """A file beside the database: locked by everybody who waits for their transaction to begin."""
    return f"{Path(database).resolve()}-line"


def somebody_waits(path: str) -> bool:
    with _opened(path) as line:
        if line is None:
            return False
        try:
            fcntl.flock(line, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@contextmanager
def _opened(path: str) -> Iterator[int | None]:
    """None where it cannot be made, as on a disk that is full: SQLite's own waiting is good enough then."""
    try:
        line = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield None
        return
    try:
        yield line
    finally:
        os.close(line)

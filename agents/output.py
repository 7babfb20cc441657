"""A process's own stdout and stderr: a full disk must not end it for want of a line in a log."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Any, TextIO


class Forgiving:
    """A stream whose lines are dropped when they cannot be written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            return

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def forgive_full_disks() -> None:
    """And write each line as soon as it is whole, though a file is written to."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    sys.stdout, sys.stderr = Forgiving(sys.stdout), Forgiving(sys.stderr)

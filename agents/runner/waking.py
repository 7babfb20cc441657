"""Waiting until something happens, instead of looking again and again."""

from __future__ import annotations

import select
from collections.abc import Iterable


def wait_readable(fds: Iterable[int], timeout_s: float) -> bool:
    """Until one of them can be read or is closed at its other end, or the time is up; whether one is."""
    poller = select.poll()
    for fd in fds:
        poller.register(fd, select.POLLIN)
    return bool(poller.poll(max(0.0, timeout_s) * 1000))

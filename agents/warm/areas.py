"""The memory that the kernel shows as a process's command line and environment, written anew. Linux.

A process that is forked shows those of its parent, and has to be found by its own mark and bundle.
"""

from __future__ import annotations

import os
from pathlib import Path


def show_command(words: list[str]) -> None:
    """What ``/proc/PID/cmdline`` gives from now on.

    Raises:
        ValueError: it is longer than the command that the process was started with.
    """
    begin, end = _bounds(48, 49)
    text = b"\0".join(os.fsencode(word) for word in words) + b"\0"
    _write(begin, end, text)


def show_variable(name: str, value: str) -> None:
    """What ``/proc/PID/environ`` gives for a variable that the process was started with.

    Raises:
        ValueError: it was not started with it, or with a shorter value.
    """
    begin, end = _bounds(50, 51)
    environ = Path("/proc/self/environ").read_bytes()
    at = 0 if environ.startswith(f"{name}=".encode()) else environ.index(f"\0{name}=".encode()) + 1
    stop = environ.index(b"\0", at)
    _write(begin + at, min(begin + stop, end), f"{name}={value}".encode())


def _bounds(first: int, last: int) -> tuple[int, int]:
    """Two of the addresses in ``/proc/self/stat``, by the manual's numbers of their fields."""
    text = Path("/proc/self/stat").read_text()
    fields = text[text.rindex(")") + 2 :].split()
    return int(fields[first - 3]), int(fields[last - 3])


def _write(begin: int, end: int, text: bytes) -> None:
    if len(text) > end - begin:
        raise ValueError(f"there is room for {end - begin} bytes, and {len(text)} are to be shown")
    with open("/proc/self/mem", "r+b", 0) as memory:
        memory.seek(begin)
        memory.write(text.ljust(end - begin, b"\0"))

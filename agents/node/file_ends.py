"""The end of a file that grows: its last lines, from a limited piece of it."""

from __future__ import annotations

from pathlib import Path

PIECE_BYTES = 256 << 10
"""What is read of one file at most, however long its lines."""


def last_lines(path: Path, count: int, before: int | None = None) -> str:
    """At most ``count`` lines that end before that byte, or before the end; empty where there is no file.

    A first line that would be torn is left out, unless there is no other.
    """
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            end = size if before is None else min(before, size)
            begin = max(0, end - PIECE_BYTES)
            file.seek(begin)
            data = file.read(end - begin)
    except OSError:
        return ""
    lines = data.splitlines(keepends=True)
    if begin > 0 and len(lines) > 1:
        del lines[0]
    return b"".join(lines[-count:]).decode("utf-8", "replace")


def line_begin(path: Path, offset: int) -> int:
    """Where the line begins that the byte at ``offset`` belongs to."""
    try:
        with path.open("rb") as file:
            begin = max(0, offset - PIECE_BYTES)
            file.seek(begin)
            at = file.read(offset - begin).rfind(b"\n") + 1
    except OSError:
        return offset
    return begin + at


def what_follows(path: Path, behind: int, count: int) -> str:
    """At most ``count`` lines from that byte on."""
    try:
        with path.open("rb") as file:
            file.seek(behind)
            data = file.read(PIECE_BYTES)
    except OSError:
        return ""
    return b"".join(data.splitlines(keepends=True)[:count]).decode("utf-8", "replace")

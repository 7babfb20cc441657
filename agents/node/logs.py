"""Slices of a worker's log, by byte offset and in whole lines."""

from __future__ import annotations

import time
from pathlib import Path

from ..bundle import Bundle, find_bundles
from ..wire.commands import LogLine, LogSlice, LogSliceAnswer

SLICE_BYTES = 256 * 1024

PAUSE_S = 1.0
"""A last line without an end is given once its writer has paused for so long: it may be all there is."""


def read_slice(request: LogSlice, data: Path, node: str) -> LogSliceAnswer:
    """Never raises for what is asked: ``problem`` says in words why there is nothing."""
    bundles = find_bundles(data, request.attempt)
    if not bundles:
        return LogSliceAnswer(problem=f"{node} knows no attempt {request.attempt!r}.")
    bundle = next((one for one in bundles if one.round_folder(request.round).exists()), bundles[0])
    path = bundle.log(request.round, request.rank, request.stream)
    try:
        status = path.stat()
        is_paused = time.time() - status.st_mtime > PAUSE_S
        start, data_read = _read(path, request, status.st_size)
    except FileNotFoundError:
        return LogSliceAnswer(problem=_why_missing(bundle, request, node))
    except OSError as error:
        return LogSliceAnswer(problem=f"The log on {node} cannot be read: {error.strerror}.")
    reaches_end = start + len(data_read) == status.st_size
    lines = _whole_lines(
        start, data_read, keep_rest=(is_paused and reaches_end) or len(data_read) == SLICE_BYTES
    )
    return _answer(request, lines, start, status.st_size)


def _read(path: Path, request: LogSlice, size: int) -> tuple[int, bytes]:
    """At most ``SLICE_BYTES`` on the wanted side of the offset, and where they begin."""
    with path.open("rb") as file:
        if request.after is not None:
            start = max(0, min(request.after, size))
            file.seek(start)
            return start, file.read(min(SLICE_BYTES, size - start))
        end = size if request.before is None else max(0, min(request.before, size))
        start = max(0, end - SLICE_BYTES)
        file.seek(start)
        return _skip_torn_line(start, file.read(end - start))


def _skip_torn_line(start: int, data: bytes) -> tuple[int, bytes]:
    """Read backwards, the first line is torn unless it begins the file or fills the whole slice."""
    first_end = data.find(b"\n") + 1
    if start == 0 or first_end in (0, len(data)):
        return start, data
    return start + first_end, data[first_end:]


def _whole_lines(start: int, data: bytes, keep_rest: bool) -> list[tuple[int, bytes]]:
    """Each line's offset and bytes, its end included."""
    lines, offset = [], start
    for line in data.split(b"\n"):
        raw = line + b"\n" if offset + len(line) < start + len(data) else line
        if raw.endswith(b"\n") or (raw and keep_rest):
            lines.append((offset, raw))
        offset += len(raw)
    return lines


def _answer(request: LogSlice, lines: list[tuple[int, bytes]], start: int, size: int) -> LogSliceAnswer:
    limit = max(1, request.limit)
    lines = lines[:limit] if request.after is not None else lines[-limit:]
    if not lines:
        return LogSliceAnswer(start=start, end=start, size=size)
    last_offset, last = lines[-1]
    return LogSliceAnswer(
        lines=tuple(LogLine(offset=offset, text=_text(raw)) for offset, raw in lines),
        start=lines[0][0],
        end=last_offset + len(last),
        size=size,
    )


def _text(raw: bytes) -> str:
    return raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")


def _why_missing(bundle: Bundle, request: LogSlice, node: str) -> str:
    folders = bundle.round_folder(request.round).glob("rank-*")
    ranks = sorted(path.name.removeprefix("rank-") for path in folders)
    if not ranks:
        return f"No worker of round {request.round} has run on {node}."
    if str(request.rank) not in ranks:
        return (
            f"Round {request.round} on {node} has the ranks {', '.join(ranks)}, and no rank {request.rank}."
        )
    return f"Rank {request.rank} of round {request.round} on {node} has no {request.stream} yet."

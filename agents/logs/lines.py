"""Whole lines out of a stream's bytes, forwards and backwards from an offset."""

from __future__ import annotations

from dataclasses import dataclass

from .source import LogSource

SLICE_BYTES = 256 * 1024


@dataclass(frozen=True)
class Line:
    """``raw`` holds the line's end too, where it has one. A line longer than a slice comes in parts."""

    offset: int
    raw: bytes

    @property
    def end(self) -> int:
        return self.offset + len(self.raw)

    @property
    def text(self) -> str:
        return self.raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")


@dataclass(frozen=True)
class Lines:
    """``start`` and ``end`` are where it goes on in either direction, also when there are no lines."""

    lines: tuple[Line, ...]
    start: int
    end: int
    is_cut: bool = False
    """Forwards: there are more whole lines, which were too many for one slice."""


def lines_after(source: LogSource, offset: int, limit: int, most_bytes: int = SLICE_BYTES) -> Lines:
    """The first lines from that offset on."""
    start = max(source.floor, min(offset, source.size))
    data = source.read(start, most_bytes)
    if start == source.floor > 0 and offset < start:
        start, data = skip_torn_line(start, data, is_first=False)
    lines = whole_lines(start, data, _keeps_rest(source, start, data, most_bytes))
    kept = lines[: max(1, limit)]
    is_cut = len(kept) < len(lines) or start + len(data) < source.size
    return _told(kept, start, is_cut)


def lines_before(source: LogSource, offset: int, limit: int, most_bytes: int = SLICE_BYTES) -> Lines:
    """The last lines that begin before that offset and whose bytes before it are whole lines."""
    end = max(source.floor, min(offset, source.size))
    start = max(source.floor, end - most_bytes)
    data = source.read(start, end - start)
    start, data = skip_torn_line(start, data, is_first=start == 0)
    # Before an offset that is the beginning of a line, the last one is whole.
    lines = whole_lines(start, data, end < source.size or _keeps_rest(source, start, data, most_bytes))
    return _told(lines[-max(1, limit) :], start)


def _keeps_rest(source: LogSource, start: int, data: bytes, most_bytes: int) -> bool:
    reaches_end = start + len(data) == source.size
    return (source.is_paused and reaches_end) or len(data) == most_bytes


def skip_torn_line(start: int, data: bytes, is_first: bool) -> tuple[int, bytes]:
    """Read from the middle, the first line is torn unless it begins the file or fills the whole slice."""
    first_end = data.find(b"\n") + 1
    if is_first or first_end in (0, len(data)):
        return start, data
    return start + first_end, data[first_end:]


def whole_lines(start: int, data: bytes, keep_rest: bool) -> list[Line]:
    lines, offset = [], start
    for part in data.split(b"\n"):
        raw = part + b"\n" if offset + len(part) < start + len(data) else part
        if raw.endswith(b"\n") or (raw and keep_rest):
            lines.append(Line(offset, raw))
        offset += len(raw)
    return lines


def _told(lines: list[Line], start: int, is_cut: bool = False) -> Lines:
    if not lines:
        return Lines((), start, start)
    return Lines(tuple(lines), lines[0].offset, lines[-1].end, is_cut)

"""Several streams of one node as one, by time. Pure but for the reading of bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .gap import Gap
from .lines import Line, Lines, lines_after, lines_before
from .source import STREAMS, LogSource
from .times import Moment

STREAM_BYTES = 64 * 1024
"""Read of each stream for one page."""
SETTLED_MS = 300
"""Of the last moments some streams may be noted already and others not yet."""


@dataclass(frozen=True)
class Keyed:
    """A line with its place among those of all streams."""

    gap: Gap
    source: LogSource
    line: Line
    moment: Moment | None
    """None: nobody has noted it yet."""


@dataclass(frozen=True)
class Merged:
    lines: tuple[Keyed, ...]
    first: Gap | None
    """Give it for what comes before. None: there is nothing before."""
    last: Gap
    """Give it for what comes after."""
    is_cut: bool
    """On the wanted side there are more."""


def merge_before(sources: Sequence[LogSource], gap: Gap, limit: int, now_ms: int) -> Merged:
    """The last lines before the gap."""
    gap = min(gap, horizon(sources, now_ms))
    found: list[Keyed] = []
    edges: list[Gap] = []
    for source in sources:
        lines = lines_before(source, offset_of(source, gap), limit, STREAM_BYTES)
        keyed = keyed_lines(source, lines)
        found += keyed
        if keyed and lines.start > source.floor:
            edges.append(keyed[0].gap)
    # Before the edge of a stream that was not read to its beginning there may be lines that are not here.
    edge = max(edges, default=Gap(0))
    kept = sorted((one for one in found if edge <= one.gap < gap), key=_place)[-limit:]
    has_more = bool(edges) or len(kept) < len(found)
    first = (kept[0].gap if kept else gap) if has_more else None
    return Merged(tuple(kept), first, gap, has_more)


def merge_after(sources: Sequence[LogSource], gap: Gap, limit: int, now_ms: int) -> Merged:
    """The first lines after the gap."""
    found: list[Keyed] = []
    edges = [horizon(sources, now_ms)]
    for source in sources:
        lines = lines_after(source, offset_of(source, gap), limit, STREAM_BYTES)
        keyed = keyed_lines(source, lines)
        found += keyed
        if keyed and lines.is_cut:
            edges.append(keyed[-1].gap.behind())
    inside = [one for one in found if gap <= one.gap < min(edges)]
    kept = sorted(inside, key=_place)[:limit]
    is_cut = len(kept) < len(inside) or len(edges) > 1
    return Merged(tuple(kept), gap, kept[-1].gap.behind() if kept else gap, is_cut)


def horizon(sources: Sequence[LogSource], now_ms: int) -> Gap:
    """Lines that are still to come have their place after it."""
    bounds = [Gap(max(0, now_ms - SETTLED_MS))]
    for source in sources:
        if source.unnoted_since_ms is not None:
            bounds.append(Gap(source.unnoted_since_ms))
        torn = _torn_line(source)
        if torn is not None:
            bounds.append(torn)
    return min(bounds)


def _torn_line(source: LogSource) -> Gap | None:
    """The place of a last line that somebody is still writing."""
    if source.is_paused or source.size <= source.floor:
        return None
    start = max(source.floor, source.size - STREAM_BYTES)
    begins = start + source.read(start, source.size - start).rfind(b"\n") + 1
    is_whole = begins == source.size or (begins == start > source.floor)
    moment = None if is_whole else source.times.at(begins)
    return None if moment is None else gap_at(source, begins, moment)


def offset_of(source: LogSource, gap: Gap) -> int:
    """The beginning of a line: those before it have their place before the gap, all others after it."""
    low, high = source.times.offset_before(gap.at_ms), source.times.offset_before(gap.at_ms + 1)
    side = gap.side_of(source.rank, source.stream)
    return next_line(source, max(low, min(gap.offset, high)) if side == 0 else high if side < 0 else low)


def next_line(source: LogSource, offset: int) -> int:
    """The first line that begins there or later. Notes are taken in the middle of lines."""
    if offset <= source.floor or offset >= source.size:
        return offset
    data = source.read(offset - 1, STREAM_BYTES)
    found = data.find(b"\n")
    return offset + found if found >= 0 else offset - 1 + len(data)


def keyed_lines(source: LogSource, lines: Lines) -> list[Keyed]:
    """Without those of which nobody has noted yet when they were written."""
    return list(_keyed(source, lines.lines))


def _keyed(source: LogSource, lines: Sequence[Line]) -> Iterator[Keyed]:
    for line in lines:
        moment = source.times.at(line.offset)
        if moment is not None:
            yield Keyed(gap_at(source, line.offset, moment), source, line, moment)


def gap_at(source: LogSource, offset: int, moment: Moment) -> Gap:
    return Gap(moment.at_ms, source.rank, STREAMS.index(source.stream), offset)


def _place(one: Keyed) -> Gap:
    return one.gap

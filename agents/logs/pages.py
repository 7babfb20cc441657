"""Answers to questions about logs, by whoever has the bytes: the node's files, or the hub's log store."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..wire.commands import LogLine, LogSlice, LogSliceAnswer
from ..wire.log_requests import LogMerge, LogMergeAnswer, MergedLine
from .gap import LATEST, Gap, read_gap
from .lines import Line, Lines, lines_after, lines_before
from .merging import Keyed, Merged, merge_after, merge_before, next_line
from .source import LogSource

MOST_LINES = 2000


def slice_of(source: LogSource, request: LogSlice) -> LogSliceAnswer:
    found = _find(source, request)
    return LogSliceAnswer(
        lines=tuple(_line(source, line) for line in found.lines),
        start=found.start,
        end=found.end,
        size=source.size,
        dropped=source.floor,
    )


def _find(source: LogSource, request: LogSlice) -> Lines:
    if request.at_ms is not None:
        begin = next_line(source, source.times.offset_before(request.at_ms))
        return lines_after(source, begin, request.limit)
    if request.after is not None:
        return lines_after(source, request.after, request.limit)
    before = source.size if request.before is None else request.before
    return lines_before(source, before, request.limit)


def _line(source: LogSource, line: Line) -> LogLine:
    moment = source.times.at(line.offset)
    if moment is None:
        return LogLine(offset=line.offset, text=line.text)
    return LogLine(offset=line.offset, text=line.text, at_ms=moment.at_ms, within_ms=moment.within_ms)


def merge_of(sources: Sequence[LogSource], request: LogMerge) -> LogMergeAnswer:
    """Raises ``ValueError`` for a place that is none."""
    gap = gap_in(request.after or request.before)
    limit, now_ms = max(1, min(request.limit, MOST_LINES)), int(time.time() * 1000)
    merge = merge_before if request.after is None else merge_after
    return _merged(merge(sources, gap, limit, now_ms), sources)


def gap_in(text: str | None) -> Gap:
    """Nothing stands for the end. Raises ``ValueError``."""
    return Gap(LATEST) if text is None else read_gap(text)


def _merged(merged: Merged, sources: Sequence[LogSource]) -> LogMergeAnswer:
    return LogMergeAnswer(
        lines=tuple(merged_line(one) for one in merged.lines),
        first=None if merged.first is None else merged.first.text(),
        last=merged.last.text(),
        is_cut=merged.is_cut,
        dropped=sum(source.floor for source in sources),
    )


def merged_line(one: Keyed) -> MergedLine:
    return MergedLine(
        rank=one.source.rank,
        stream=one.source.stream,
        offset=one.line.offset,
        text=one.line.text,
        at_ms=one.gap.at_ms,
        within_ms=one.moment.within_ms if one.moment is not None else None,
    )

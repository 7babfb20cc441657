"""A search in what the log store has: its newest pieces come into a file of the hub, and are searched there.

A page asks for what is older: what was not fetched within the time counts as not searched yet.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from agents.logs.gap import Gap
from agents.logs.merging import offset_of
from agents.logs.pages import gap_in
from agents.logs.search import answer_of, search_before
from agents.logs.source import FileSource
from agents.wire.log_requests import LogMergeAnswer, LogSearch

from .log_store import StoredSource, StoreFailed

FETCH_S = 4.0
"""For the pieces of all streams of one answer."""
FETCHED_BYTES = 64 << 20
"""The same: they lie on the hub's disk for a moment."""


def search_stored(sources: Sequence[StoredSource], request: LogSearch) -> LogMergeAnswer:
    """Raises ``StoreFailed``."""
    gap = gap_in(request.before)
    ends = [_end(source, gap) for source in sources]
    with ExitStack() as stack:
        lows = _fetch(sources, ends)
        files = [stack.enter_context(_held(*one)) for one in zip(sources, lows, ends, strict=True)]
        answer = answer_of(search_before(files, request, ends), files, "In the log store")
    if answer.problem is not None:
        raise StoreFailed(answer.problem)
    return answer


def _end(source: StoredSource, gap: Gap) -> int:
    return source.size if gap.at_ms > source.ended_ms else offset_of(source, gap)


def _fetch(sources: Sequence[StoredSource], ends: Sequence[int]) -> list[int]:
    """One piece of each stream in turn, from its end backwards. Gives where what is there begins."""
    until, left, lows = time.monotonic() + FETCH_S, FETCHED_BYTES, list(ends)
    is_first = True
    while any(low > source.floor for source, low in zip(sources, lows, strict=True)):
        for index, source in enumerate(sources):
            if lows[index] <= source.floor:
                continue
            if not is_first and (time.monotonic() > until or left <= 0):
                return lows
            begin = _begin_of_line(source, lows[index])
            left, lows[index], is_first = left - (lows[index] - begin), begin, False
    return lows


def _begin_of_line(source: StoredSource, end: int) -> int:
    """The piece before it; or the one before that, when the first has no more than the end of a line."""
    begin = source.piece_before(end)
    if begin > source.floor and b"\n" not in source.read(begin, end - 1 - begin):
        return source.piece_before(begin)
    return begin


@contextmanager
def _held(source: StoredSource, low: int, end: int) -> Iterator[FileSource]:
    """The part from there on, each byte at its own offset. The rest of a torn first line waits."""
    data = source.read(low, end - low)
    torn = data.find(b"\n", 0, -1) + 1 if low > source.floor else 0
    with tempfile.NamedTemporaryFile(prefix="regroup-search-") as file:
        os.pwrite(file.fileno(), data, low)
        path, times = Path(file.name), source.times
        yield FileSource(
            source.rank,
            source.stream,
            path,
            file.fileno(),
            source.size,
            source.floor,
            source.ended_ms,
            held_from=low + torn,
            _times=times,
        )

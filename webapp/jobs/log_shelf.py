"""What the log store has, in place of a node that does not answer or has nothing any more."""

from __future__ import annotations

import base64
import time
import zlib
from collections.abc import Callable
from typing import TypeVar

from agents.logs.pages import merge_of, slice_of
from agents.wire.commands import LogSlice, LogSliceAnswer
from agents.wire.log_requests import LogBytes, LogBytesAnswer, LogMerge, LogMergeAnswer, LogSearch
from webapp.fleet.asking import Silence

from .log_schemas import UnreadNode
from .log_store import StoredSource, StoreFailed, get_store
from .models import ShippedLog
from .stored_search import search_stored

A = TypeVar("A", LogSliceAnswer, LogMergeAnswer)
R = TypeVar("R", LogSlice, LogMerge, LogSearch)


def stored_sources(node: str, request: LogSlice | LogMerge | LogSearch | LogBytes) -> list[StoredSource]:
    """Those streams of which the store has anything."""
    store = get_store()
    if store is None:
        return []
    rows = ShippedLog.objects.filter(attempt=request.attempt, round=request.round, node=node, end__gt=0)
    if request.rank is not None:
        rows = rows.filter(rank=request.rank)
    if request.stream is not None:
        rows = rows.filter(stream=request.stream)
    return [StoredSource(store, row) for row in rows.select_related("attempt").order_by("rank", "stream")]


def slice_or_stored(
    node: str, request: LogSlice, answer: LogSliceAnswer | Silence
) -> tuple[LogSliceAnswer | Silence, UnreadNode | None]:
    """The node's own answer; or the store's, with what to say of it."""
    return _or_stored(node, request, answer, lambda sources: slice_of(sources[0], request))


def merged_or_stored(
    node: str, request: LogMerge, answer: LogMergeAnswer | Silence
) -> tuple[LogMergeAnswer | Silence, UnreadNode | None]:
    return _or_stored(node, request, answer, lambda sources: merge_of(sources, request))


def searched_or_stored(
    node: str, request: LogSearch, answer: LogMergeAnswer | Silence, until: float
) -> tuple[LogMergeAnswer | Silence, UnreadNode | None]:
    """Not begun after that time of the monotonic clock: many nodes may be away."""
    why = why_not(answer)
    if why is not None and time.monotonic() > until:
        late = "The log store was not searched for it, as the time was over: choose one rank."
        return answer, UnreadNode(node=node, why=f"{why} {late}", stored=None)
    return _or_stored(node, request, answer, lambda sources: search_stored(sources, request))


def _or_stored(
    node: str, request: R, answer: A | Silence, read: Callable[[list[StoredSource]], A]
) -> tuple[A | Silence, UnreadNode | None]:
    why = why_not(answer)
    if why is None:
        return answer, None
    try:
        sources = stored_sources(node, request)
        if not sources:
            return answer, UnreadNode(node=node, why=why, stored=None)
        return read(sources), UnreadNode(node=node, why=why, stored=_words(sources))
    except StoreFailed as error:
        return answer, UnreadNode(node=node, why=f"{why} {error}", stored=None)


def bytes_or_stored(
    node: str, request: LogBytes, answer: LogBytesAnswer | Silence
) -> LogBytesAnswer | Silence:
    """The bytes of a stream likewise; of one that the store has a part of, that part."""
    if isinstance(answer, LogBytesAnswer) and answer.problem is None:
        return answer
    try:
        sources = stored_sources(node, request)
        return _bytes_of(sources[0], request) if sources else answer
    except StoreFailed as error:
        return Silence(str(error))


def _bytes_of(source: StoredSource, request: LogBytes) -> LogBytesAnswer:
    start = max(source.floor, min(request.start, source.size))
    found = source.read(start, request.limit)
    packed = base64.b64encode(zlib.compress(found, 1)).decode()
    return LogBytesAnswer(data=packed, start=start, end=start + len(found), size=source.size)


def why_not(answer: LogSliceAnswer | LogMergeAnswer | Silence) -> str | None:
    return answer.why if isinstance(answer, Silence) else answer.problem


def _words(sources: list[StoredSource]) -> str:
    """How much of it the store has."""
    parts = [source for source in sources if source.row.state != "complete"]
    if not parts:
        return "These lines are from the log store, which has all of it."
    if len(sources) == 1:
        return f"These lines are from the log store, which has it up to byte {sources[0].size:,}."
    ranks = ", ".join(sorted({f"rank {source.rank} {source.stream}" for source in parts})[:5])
    return f"These lines are from the log store, which has only a part of {ranks}."

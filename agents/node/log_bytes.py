"""The bytes of a log as they are, for downloads and for the log store."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

from ..logs.source import FileSource
from ..logs.times import times_path
from ..wire.log_requests import LogBytes, LogBytesAnswer
from .log_files import NoLog, Wanted, open_streams

MOST_BYTES = 2 << 20


def read_bytes(request: LogBytes, data: Path, node: str) -> LogBytesAnswer:
    """Never raises for what is asked: ``problem`` says in words why there is nothing."""
    wanted = Wanted(request.attempt, request.round, request.rank, request.stream)
    try:
        with open_streams(wanted, data, node) as sources:
            return _of_times(sources[0]) if request.of_times else _slice(sources[0], request)
    except NoLog as why:
        return LogBytesAnswer(problem=str(why), is_missing=why.is_final)


def _slice(source: FileSource, request: LogBytes) -> LogBytesAnswer:
    start = max(source.floor, min(request.start, source.size))
    found = source.read(start, min(MOST_BYTES, max(1, request.limit)))
    return _told(found, start, source.size)


def _of_times(source: FileSource) -> LogBytesAnswer:
    """All of them: the file is small."""
    try:
        noted = times_path(source.path).read_bytes()
    except OSError:
        noted = b""
    return _told(noted, 0, len(noted))


def _told(found: bytes, start: int, size: int) -> LogBytesAnswer:
    packed = base64.b64encode(zlib.compress(found, 6)).decode()
    return LogBytesAnswer(data=packed, start=start, end=start + len(found), size=size)

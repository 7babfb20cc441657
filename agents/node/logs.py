"""Slices of a worker's log, by byte offset and in whole lines."""

from __future__ import annotations

from pathlib import Path

from ..logs.lines import SLICE_BYTES
from ..logs.pages import slice_of
from ..wire.commands import LogSlice, LogSliceAnswer
from .log_files import NoLog, Wanted, open_streams

__all__ = ["SLICE_BYTES", "read_slice"]


def read_slice(request: LogSlice, data: Path, node: str) -> LogSliceAnswer:
    """Never raises for what is asked: ``problem`` says in words why there is nothing."""
    wanted = Wanted(request.attempt, request.round, request.rank, request.stream)
    try:
        with open_streams(wanted, data, node) as sources:
            return slice_of(sources[0], request)
    except NoLog as why:
        return LogSliceAnswer(problem=str(why))

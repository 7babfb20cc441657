"""Answers for many streams at once: their lines merged by time, or those in which a pattern is found."""

from __future__ import annotations

from pathlib import Path

from ..logs.pages import gap_in, merge_of
from ..logs.search import answer_of, search
from ..wire.log_requests import LogMerge, LogMergeAnswer, LogSearch
from .log_files import NoLog, Wanted, open_streams


def read_merged(request: LogMerge, data: Path, node: str) -> LogMergeAnswer:
    """Never raises for what is asked: ``problem`` says in words why there is nothing."""
    try:
        with open_streams(_wanted(request), data, node) as sources:
            return merge_of(sources, request)
    except (NoLog, ValueError) as why:
        return LogMergeAnswer(problem=str(why))


def search_lines(request: LogSearch, data: Path, node: str) -> LogMergeAnswer:
    """The same. What was found before the time was over is given."""
    try:
        gap = gap_in(request.before)
        with open_streams(_wanted(request), data, node) as sources:
            return answer_of(search(sources, request, gap), sources, f"On {node}")
    except (NoLog, ValueError) as why:
        return LogMergeAnswer(problem=str(why))


def _wanted(request: LogMerge | LogSearch) -> Wanted:
    return Wanted(request.attempt, request.round, request.rank, request.stream)

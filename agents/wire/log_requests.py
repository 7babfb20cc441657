"""What the hub asks of logs beside a slice of one stream: many merged by time, a search, and the bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class LogMerge:
    """Ask for lines of a round's streams on the node, merged by time. Answered with a ``LogMergeAnswer``.

    ``after`` and ``before`` are places as ``agents.logs.gap`` writes them. Neither: the last lines.
    """

    kind: Literal["log_merge"] = "log_merge"
    id: str
    attempt: str
    round: int
    rank: int | None = None
    """None: all that the node has of the round."""
    stream: Literal["stdout", "stderr"] | None = None
    """None: both."""
    after: str | None = None
    before: str | None = None
    limit: int = 200


@dataclass(frozen=True, kw_only=True)
class LogSearch:
    """Ask for the newest lines before a place in which the pattern is found; answered like ``LogMerge``.

    A line is searched as it is shown: without control sequences, of a progress bar what it said last.
    """

    kind: Literal["log_search"] = "log_search"
    id: str
    attempt: str
    round: int
    rank: int | None = None
    stream: Literal["stdout", "stderr"] | None = None
    pattern: str
    """A regular expression of Python's."""
    is_case_sensitive: bool = False
    before: str | None = None
    limit: int = 200
    limit_s: float = 2.0
    """The search ends after so many seconds, wherever it is, and says how far it has come."""


@dataclass(frozen=True, kw_only=True)
class LogBytes:
    """Ask for the bytes of one stream from an offset on. Answered with a ``LogBytesAnswer``."""

    kind: Literal["log_bytes"] = "log_bytes"
    id: str
    attempt: str
    round: int
    rank: int
    stream: Literal["stdout", "stderr"]
    start: int = 0
    limit: int = 1 << 20
    of_times: bool = False
    """Of the notes when it was written, instead of the log itself."""


@dataclass(frozen=True, kw_only=True)
class MergedLine:
    rank: int
    stream: Literal["stdout", "stderr"]
    offset: int
    text: str
    at_ms: int | None = None
    """Milliseconds since the epoch by the node's clock: the latest that it can have been written."""
    within_ms: int | None = None
    """And the earliest is so much before. None: that is not known."""


@dataclass(frozen=True, kw_only=True)
class LogMergeAnswer:
    lines: tuple[MergedLine, ...] = ()
    first: str | None = None
    """Give it as ``before`` for what precedes. None: nothing does."""
    last: str | None = None
    """Give it as ``after`` for what follows."""
    is_cut: bool = False
    """On the wanted side there is more than was asked for at once."""
    dropped: int = 0
    """Bytes before what is there that the job's cap has dropped, of all these streams."""
    unsearched: int = 0
    """Bytes that a search has left out, because its time was over or it had found enough."""
    problem: str | None = None
    """Why there is nothing, or not all, in words."""


@dataclass(frozen=True, kw_only=True)
class LogBytesAnswer:
    data: str = ""
    """The bytes, compressed with zlib, in base 64."""
    start: int = 0
    """Later than asked for where the beginning has been dropped."""
    end: int = 0
    size: int = 0
    problem: str | None = None
    is_missing: bool = False
    """The node has no such file, and will not get one."""

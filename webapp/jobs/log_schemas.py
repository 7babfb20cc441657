"""What the API says of logs."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from webapp.schemas import Answer

StreamWord = Literal["stdout", "stderr"]


class LogLineOut(Answer):
    key: str
    """Its place: as ``after`` it gives the lines from this one on, as ``before`` those that precede it."""
    node: str
    rank: int
    stream: StreamWord
    offset: int
    text: str
    at: datetime | None
    """The latest that it can have been written, by the hub's clock. None: nobody has noted it."""
    within_s: float | None
    """And the earliest is so much before. None: that is not known."""


class UnreadNode(Answer):
    """A node whose lines are missing in a page, or come from the log store."""

    node: str
    why: str
    stored: str | None
    """What of its lines the log store has given instead. None: there is nothing of it."""


class LogPage(Answer):
    items: list[LogLineOut]
    next: str | None
    """Give it as ``after`` for the lines that follow."""
    previous: str | None
    """Give it as ``before`` for the lines that precede. None: this is the beginning."""
    node: str
    """Empty: several nodes."""
    attempt: int
    round: int
    rank: int | None
    """None: all ranks."""
    stream: Literal["stdout", "stderr", "both"]
    problem: str | None
    """Why there are no lines, in words: the node is not heard, the file is not there yet."""
    unread: list[UnreadNode]
    dropped_bytes: int
    """What was before the oldest line that is left, and has been dropped by the job's ``log_max_bytes``."""
    unsearched_bytes: int
    """What a search has left out, because its time was over or it had found enough."""

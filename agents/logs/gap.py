"""A place between two lines of several streams that are merged by time: where reading goes on."""

from __future__ import annotations

from dataclasses import dataclass

from .source import STREAMS, Stream

LATEST = (1 << 53) - 1
"""No number of ours is greater, so that JavaScript reads them all as they are."""


@dataclass(frozen=True, order=True)
class Gap:
    """In front of the line with that key. Times are of the node's clock.

    Lines of the same moment are in the order of their ranks and streams, those of one stream by offset.
    """

    at_ms: int
    rank: int = 0
    stream: int = 0
    """Its place in ``STREAMS``."""
    offset: int = 0

    def text(self) -> str:
        return f"{self.at_ms}.{self.rank}.{self.stream}.{self.offset}"

    def behind(self) -> Gap:
        """The place right after that line: the next one of its stream begins later than it."""
        return Gap(self.at_ms, self.rank, self.stream, self.offset + 1)

    def later(self, by_ms: int) -> Gap:
        return Gap(max(0, self.at_ms + by_ms), self.rank, self.stream, self.offset)

    def side_of(self, rank: int, stream: Stream) -> int:
        """-1: of the same moment, that stream's lines come before the gap; 1: after it; 0: it is in it."""
        own, other = (self.rank, self.stream), (rank, STREAMS.index(stream))
        return (own < other) - (other < own)


def read_gap(text: str) -> Gap:
    """Raises ``ValueError``."""
    parts = text.split(".")
    if len(parts) != 4 or not all(part.isdecimal() and int(part) <= LATEST for part in parts):
        raise ValueError(f"{text!r} is no place in a log")
    at, rank, stream, offset = map(int, parts)
    return Gap(at, rank, min(stream, len(STREAMS) - 1), offset)

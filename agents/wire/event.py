"""What every record has.

A record is owned by one source (a bundle's runner or store keeper, or a node agent) and numbered by it:
``seq`` is 1, 2, 3 … without gaps. Records of runners and keepers name their attempt; a node's do not.
Readers ignore fields they do not know and set aside kinds they do not know.
A field is only ever added, with a default.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Event:
    """What every record has. ``at`` is an aware UTC time by the source's own clock."""

    source: str
    seq: int
    at: datetime
    inferred: bool = False
    """True when the node agent wrote it for a runner or keeper that can no longer speak."""


@dataclass(frozen=True, kw_only=True)
class RunnerEvent(Event):
    attempt: str
    node: str


@dataclass(frozen=True, kw_only=True)
class KeeperEvent(Event):
    attempt: str
    node: str


@dataclass(frozen=True, kw_only=True)
class NodeEvent(Event):
    node: str

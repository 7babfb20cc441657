"""Journal records as answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ninja import Schema


class EventOut(Schema):
    cursor: int
    source: str
    seq: int
    kind: str
    at: datetime
    received_at: datetime
    node: str
    attempt: str
    round: int | None
    inferred: bool
    says: str
    """The record in one plain sentence."""
    body: dict[str, Any]
    """The whole record as it was journaled, secrets masked."""


class EventPage(Schema):
    items: list[EventOut]
    next: str | None
    """Give it as ``after`` to go on. Set as long as the list may grow."""

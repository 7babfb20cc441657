"""Nodes and commands as answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from ninja import Schema

NodeStateWord = Literal["online", "unheard", "lost"]
CommandStateWord = Literal["waiting", "sent", "received", "done", "refused", "failed", "undelivered"]


class NodeJob(Schema):
    job: int
    name: str
    attempt: str
    slots: int
    phase: str


class NodeOut(Schema):
    name: str
    state: NodeStateWord
    """unheard after 3 s of silence, lost after 15 s."""
    silent_s: float | None
    """Seconds since the last sign of life. None: never heard since the hub's data began."""
    last_heard_at: datetime | None
    clock_offset_s: float | None
    """How much the node's clock, by which its records are dated, is ahead of the hub's. None: unknown."""
    clock_error_s: float | None
    """The offset is right to within this."""
    troubles: list[str]
    """What does not work there, a sentence each, such as a full disk."""
    registered_at: datetime
    agent_started_at: datetime | None
    slots: int
    slots_free: int
    jobs: list[NodeJob]
    set_aside: int
    """Records of this node that could not be read or applied; they are among the events, with the reason."""
    facts: dict[str, Any]
    """``agents.wire.events.NodeFacts`` as the node reported it."""


class NodePage(Schema):
    items: list[NodeOut]
    next: str | None


class CommandOut(Schema):
    id: str
    kind: str
    node: str
    job: int | None
    attempt: str
    state: CommandStateWord
    is_final: bool
    reason: str
    """Why it ended so, in words."""
    evidence: dict[str, Any]
    by: str
    why: str
    """The reason that the person gave."""
    asked: dict[str, Any]
    """What was asked, such as rank, pid, round, signal."""
    created_at: datetime
    sent_at: datetime | None
    received_at: datetime | None
    ended_at: datetime | None


class CommandPage(Schema):
    items: list[CommandOut]
    next: str | None

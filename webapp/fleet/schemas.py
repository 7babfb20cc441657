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
    draining_since: datetime | None
    """Since when it takes no jobs and those on it are moved away. None: it takes jobs."""
    drained_by: str | None
    drain_reason: str
    set_aside_at: datetime | None
    """Since when it gets no jobs, because it came and went too often. None: it does."""
    set_aside_why: str
    takes_no_jobs: str
    """Why it gets none, and how far its draining has come, as a sentence. Empty: it gets jobs."""
    is_drained: bool
    """It is to be drained, and nothing of any job is left on it."""
    set_aside: int
    """Records of this node that could not be read or applied; they are among the events, with the reason."""
    facts: dict[str, Any]
    """``agents.wire.events.NodeFacts`` as the node reported it."""


class NodePage(Schema):
    items: list[NodeOut]
    next: str | None


class DrainIn(Schema):
    reason: str = ""


DrainWord = Literal["moves", "promotes", "shrinks", "waits", "relaunches", "leaves", "ends"]


class JobForecast(Schema):
    """What becomes of one job when its node is drained."""

    job: int
    name: str
    effect: DrainWord
    """moves: another node takes its place. promotes: one that stands by does. shrinks: the others go on
    without it. waits: they are too few. relaunches: the job starts anew as another attempt. leaves: it stands
    by, or leaves already. ends: the job is about to end there anyway."""
    to: list[str]
    """Nodes on which it goes on that it was not on before, as far as that is known."""
    nodes_before: int
    nodes_after: int
    says: str


class DrainForecast(Schema):
    node: str
    jobs: list[JobForecast]
    says: str
    """All of it in a sentence."""


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

"""What is kept of rounds that failed, as the API tells it. These names are public and stay."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema

EvidenceState = Literal["kept", "unreachable", "dropped", "none"]
HookWord = Literal["on_failure", "on_end"]
HookOutcome = Literal["ended", "timed_out", "cut_off", "not_started"]


class EvidenceNode(Schema):
    """What one node of the round has."""

    node: str
    state: EvidenceState
    why: str
    """Why there is nothing, or nothing now; empty where it is kept."""
    size_bytes: int
    ranks: list[int]
    stacks: list[int]
    """Ranks whose stacks were taken before they were ended."""
    missing: list[str]


class HookOut(Schema):
    """A command of the job's own that is over on one node."""

    node: str
    hook: HookWord
    index: int
    command: str
    outcome: HookOutcome
    exit_code: int | None
    took_s: float
    said: str
    output: str
    """The end of what it wrote; more of it is in the evidence."""
    output_bytes: int
    ended_at: datetime


class EvidenceRound(Schema):
    attempt: int
    round: int
    """0: of an attempt in which none has formed."""
    has_failed: bool
    cause: str
    kept_at: datetime | None
    size_bytes: int
    """Of all nodes together."""
    nodes: list[EvidenceNode]
    hooks: list[HookOut]


class EvidenceOut(Schema):
    level: str
    """How much the job wants to be taken: fast, full or off."""
    rounds: list[EvidenceRound]
    """The newest first."""

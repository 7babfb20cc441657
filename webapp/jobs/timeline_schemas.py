"""The timeline as an answer: lanes, marks, and rounds with their causes. These names are public and stay."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema

CauseWord = Literal["start", "failure", "membership"]
CauseKind = Literal[
    "exception",
    "exit_code",
    "signal",
    "out_of_memory",
    "fork_server",
    "unkillable",
    "peer_lost",
    "unknown",
    "node_joined",
    "node_left",
    "node_lost",
    "runner_died",
    "formed_anew",
]
ConsequenceKind = Literal[
    "exception",
    "exit_code",
    "signal",
    "out_of_memory",
    "fork_server",
    "unkillable",
    "peer_lost",
    "stopped",
    "finished",
    "unknown",
]
MarkWord = Literal["failure", "kill", "checkpoint", "join", "leave", "resumed", "ended"]
PhaseWord = Literal["launching", "idle", "rendezvous", "formed", "starting", "up", "restarting", "finishing"]


class SpanOut(Schema):
    phase: PhaseWord
    round: int | None
    began_at: datetime
    ended_at: datetime | None


class LaneOut(Schema):
    node: str
    spans: list[SpanOut]


class MarkOut(Schema):
    kind: MarkWord
    at: datetime
    node: str | None
    rank: int | None
    round: int | None
    says: str
    by: str = ""


class CauseOut(Schema):
    """What a round began for: what ended the one before it."""

    kind: CauseKind
    rank: int | None
    """None where no worker was the cause."""
    node: str | None
    sentence: str
    source: str
    """What says so: the exit status, the error file, the kernel log, the members of both rounds …"""
    planned: bool
    """Somebody asked for it: a kill by hand, a change of the number of nodes, a drain."""


class ConsequenceOut(Schema):
    """Another rank that ended with the round."""

    rank: int
    node: str
    kind: ConsequenceKind


class RoundOut(Schema):
    attempt: int
    number: int
    world_size: int
    nodes: list[str]
    restart: CauseWord
    """Which budget it belongs to; ``start`` for the first of an attempt."""
    cause: CauseOut | None
    """None for the first round of an attempt, and while it is not known."""
    consequences: list[ConsequenceOut] | None
    """Of the end of the round before. None: thousands have ended since, and these are not listed."""
    charged: str | None
    why: str
    resumed_step: int | None
    """From which step it went on. None: not reported."""
    steps_redone: int | None
    """How many steps the round before had done beyond that. None: not known."""
    formed_at: datetime


class TimelineOut(Schema):
    """All attempts, or one. Lanes hold no more than what was reported."""

    began_at: datetime
    now: datetime
    ended_at: datetime | None
    rounds: list[RoundOut]
    lanes: list[LaneOut]
    marks: list[MarkOut]

"""The timeline as an answer: lanes, marks, and rounds with their causes. These names are public and stay."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from webapp.schemas import Answer

from .schemas import WorkerStateWord

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
RecoveryPhase = Literal[
    "detect",
    "stop",
    "joining",
    "last_call",
    "start",
    "script",
    "process_group",
    "checkpoint",
    "first_step",
    "pace",
]
"""In this order. detect: from the fault, where one was sent by hand, until a runner knew it. stop: until the
workers of the round before were gone. joining: until all nodes that are in the round were there. last_call:
until it was formed. start: until the processes were there. script: until they called init_process_group.
process_group: until that returned. checkpoint: until they said that they resume. first_step: until they
reported a step. pace: until steps took no longer than before."""
MarkWord = Literal["failure", "stall", "kill", "fault", "checkpoint", "join", "leave", "resumed", "ended"]
PhaseWord = Literal["launching", "idle", "rendezvous", "formed", "starting", "up", "restarting", "finishing"]


class SpanOut(Answer):
    phase: PhaseWord
    round: int | None
    began_at: datetime
    ended_at: datetime | None


class LaneOut(Answer):
    node: str
    spans: list[SpanOut]


class MarkOut(Answer):
    kind: MarkWord
    at: datetime
    node: str | None
    rank: int | None
    round: int | None
    says: str
    by: str = ""


class CauseOut(Answer):
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


class ConsequenceOut(Answer):
    """Another rank that ended with the round."""

    rank: int
    node: str
    kind: ConsequenceKind


class PhaseOut(Answer):
    """A phase of a recovery, between two recorded moments; times are by the hub's clock."""

    name: RecoveryPhase
    start: datetime | None
    """None: one of its two moments was not reported."""
    seconds: float | None
    critical_node: str | None
    """Who was the last to be through. None as well for what only one node or rank was asked about."""
    critical_rank: int | None
    """None: it is a matter of the node, not of one of its ranks."""


class RoundOut(Answer):
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
    phases: list[PhaseOut]
    """Of the way from the round before to this one's first step: for each moment its latest rank."""
    recovery_s: float | None
    """From the first moment that is known to the first step. None: no step is reported yet."""
    unaccounted_s: float | None
    """What of that lies in none of the phases."""
    formed_at: datetime


class WaterfallRow(Answer):
    """One node's way into a round, or one rank's."""

    node: str
    rank: int | None
    """None: what the node as a whole did before its ranks were there."""
    phases: list[PhaseOut]


class ClockOut(Answer):
    node: str
    offset_s: float | None
    """How far the node's clock was ahead of the hub's. None: not measured."""
    error_s: float | None
    """The offset is right to within this."""
    taken_s: float
    """What its moments are told less: the offset, or 0 where that is no greater than its error."""


class WaterfallOut(Answer):
    """How each node and each rank came into one round."""

    attempt: int
    number: int
    rows: list[WaterfallRow]
    clocks: list[ClockOut]


class WorkerSpanOut(Answer):
    """One worker's life, from its start to its end."""

    attempt: int
    round: int
    began_at: datetime
    ended_at: datetime | None
    state: WorkerStateWord
    """How it ended; ``running`` while it has not."""


class RankLaneOut(Answer):
    """The workers that were one rank on one node, in order of time."""

    node: str
    rank: int
    spans: list[WorkerSpanOut]


class RankLanesOut(Answer):
    items: list[RankLaneOut]


class CurvePoint(Answer):
    """What rank 0 had reported by then."""

    at: datetime
    attempt: int
    step: int
    metrics: dict[str, float]


class CurveOut(Answer):
    """Points in order of time."""

    every_s: float
    """So far are they apart, where progress was reported all the time."""
    items: list[CurvePoint]


class TimelineOut(Answer):
    """All attempts, or one. Lanes hold no more than what was reported."""

    began_at: datetime
    now: datetime
    ended_at: datetime | None
    rounds: list[RoundOut]
    lanes: list[LaneOut]
    marks: list[MarkOut]
    typical: dict[RecoveryPhase, float]
    """The median of each phase over the restarts of this job, in seconds."""

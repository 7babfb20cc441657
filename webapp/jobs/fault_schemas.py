"""Faults as requests and answers: kinds, forecast, and what came of them. These names are public and stay."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from webapp.fleet.schemas import CommandOut, CommandStateWord

FaultKind = Literal["kill_worker", "freeze_worker", "slow_worker", "kill_runner", "kill_agent", "cut_node"]


class SeenWorker(Schema):
    """What the person saw when they clicked. Of a runner or a node only the attempt counts."""

    round: int | None = None
    pid: int | None = None
    attempt: str | None = None
    rank: int | None = None
    """Which of several ranks it is about."""


class FaultIn(Schema):
    """``rank`` or ``ranks`` for what is done to workers, ``node`` for what is done to one or its runner."""

    kind: FaultKind
    rank: int | None = None
    ranks: list[int] | None = None
    node: str | None = None
    signal: str = "SIGKILL"
    """Of kill_worker."""
    seconds: float = 30.0
    """How long a worker is frozen or slowed, or a node cut off."""
    share: float = 0.5
    """How much of the time a slowed worker runs."""
    reason: str = ""
    dry_run: bool = False
    """Only tell what would happen."""
    if_: SeenWorker | list[SeenWorker] | None = Field(default=None, alias="if")


class FaultForecast(Schema):
    sentence: str
    world_size_after: int
    """0: nothing of the job runs any more."""
    failure_restarts_after: int
    steps_redone: int | None
    """None: not known."""
    seconds: float | None
    """Until training is as before. None: not known, or not to be expected."""
    based_on: str
    """What the number of seconds rests on, or why there is none."""


class FaultPreview(Schema):
    """What a fault would do, and what it would prove. Nothing is done."""

    forecast: FaultForecast
    proves: str
    warnings: list[str]


class FaultsSent(Schema):
    """A command for each of several ranks."""

    commands: list[CommandOut]


class FaultOutcome(Schema):
    """What happened, to hold the forecast against. A number that is not known is null."""

    sentence: str
    round: int | None
    """The round that began with it."""
    world_size: int | None
    failure_restarts: int | None
    steps_redone: int | None
    seconds: float | None
    error_s: float | None
    """So much later than forecast, or earlier where it is negative."""


class FaultOut(Schema):
    id: str
    """That of its command."""
    kind: FaultKind
    job: int
    attempt: str
    node: str
    rank: int | None
    round: int
    """The newest round when it was asked for."""
    by: str
    why: str
    created_at: datetime
    sent_at: datetime | None
    received_at: datetime | None
    begun_at: datetime | None
    """When its node said that it had taken hold. A kill is over at once and has none."""
    ends_by: datetime | None
    """When it ends by itself. None: it is over, or ends with what it kills."""
    ended_at: datetime | None
    state: CommandStateWord
    is_final: bool
    says: str
    """Where it stands, in words."""
    forecast: FaultForecast
    outcome: FaultOutcome | None
    """None while nothing can be told of it yet."""


class FaultPage(Schema):
    items: list[FaultOut]


class FaultsStopped(Schema):
    """A command for each node that can hear it; their evidence tells that nothing runs any more."""

    commands: list[CommandOut]
    says: str

"""Faults as answers: where each stands, its forecast, and what came of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import cast

from django.db.models import QuerySet

from webapp.fleet.models import Command, CommandState
from webapp.fleet.outbox import OPEN
from webapp.fleet.schemas import CommandStateWord

from .fault_outcome import outcome_of
from .fault_schemas import FaultForecast, FaultKind, FaultOut
from .models import Fault, Job, Round
from .words import clock

LAST = 100


def running_faults() -> list[FaultOut]:
    """Of all jobs: those whose commands no evidence has closed."""
    return _outs(_faults().filter(command__state__in=OPEN))


def faults_of(job: Job) -> list[FaultOut]:
    """The newest first."""
    return _outs(_faults().filter(job=job)[:LAST])


def _faults() -> QuerySet[Fault]:
    found = Fault.objects.select_related("command__by", "attempt")
    return found.order_by("-command__created_at", "-command_id")


def _outs(faults: Sequence[Fault] | QuerySet[Fault]) -> list[FaultOut]:
    rows = list(faults)
    rounds: dict[str, list[Round]] = defaultdict(list)
    for row in Round.objects.filter(attempt__in={fault.attempt_id for fault in rows}).order_by("number"):
        rounds[row.attempt_id].append(row)
    return [_out(fault, rounds[fault.attempt_id]) for fault in rows]


def _out(fault: Fault, rounds: Sequence[Round]) -> FaultOut:
    command = fault.command
    is_final = CommandState(command.state).is_final
    return FaultOut(
        id=str(command.id),
        kind=cast(FaultKind, command.kind),
        job=fault.job_id,
        attempt=fault.attempt_id,
        node=command.node,
        rank=command.body.get("rank"),
        round=fault.round,
        by=command.by.username if command.by else "regroup",
        why=command.why,
        created_at=command.created_at,
        sent_at=command.sent_at,
        received_at=command.received_at,
        begun_at=fault.begun_at,
        ends_by=None if is_final else _ends_by(fault, command),
        ended_at=command.ended_at,
        state=cast(CommandStateWord, command.state),
        is_final=is_final,
        says=_says(fault, command),
        forecast=FaultForecast(**fault.forecast),
        outcome=outcome_of(fault, command, rounds, fault.attempt.ended_at is not None),
    )


def _ends_by(fault: Fault, command: Command) -> datetime | None:
    seconds = command.body.get("seconds")
    if fault.begun_at is None or seconds is None:
        return None
    return fault.begun_at + timedelta(seconds=float(seconds))


def _says(fault: Fault, command: Command) -> str:
    if command.reason:
        return command.reason
    if command.kind == "kill_agent" and fault.begun_at is not None:
        return f"{fault.begun_says} It is not back since {clock(fault.begun_at)}."
    if fault.begun_says:
        return fault.begun_says
    if command.state == CommandState.RECEIVED:
        return f"{command.node} has it."
    return f"Sent to {command.node}, which has not said that it has it."

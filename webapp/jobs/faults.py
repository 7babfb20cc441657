"""Faults by hand: told beforehand, written as commands, closed only by evidence, ended all at once."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.db import transaction

from agents.wire.commands import (
    AnyFault,
    CutNode,
    FreezeWorker,
    KillAgent,
    KillRunner,
    KillWorker,
    SlowWorker,
    StopFaults,
)
from webapp.accounts.models import Account
from webapp.fleet.models import Command
from webapp.fleet.outbox import OPEN, write_command

from .fault_aims import LASTING, Targets, find_targets
from .fault_facts import aim_of, situation_of, warnings_of
from .fault_forecast import forecast_fault
from .fault_schemas import FaultForecast, FaultIn, FaultKind, FaultPreview
from .models import Fault, Job, Worker
from .news import job_changed
from .words import are, count, listed

DEADLINE_S = 10.0

PROVES: dict[FaultKind, str] = {
    "kill_worker": "Proves that a lost worker costs one restart, and that its job goes on from a checkpoint.",
    "freeze_worker": "Proves that a hang is named with the rank that stands still, and is survived.",
    "slow_worker": "Proves that a straggler is named, and shows what one slow rank costs the whole job.",
    "kill_runner": "Proves that a node gets a new runner, and that none of its workers is left behind.",
    "kill_agent": "Proves that training does not need the node agent, and that the next one takes over.",
    "cut_node": "Proves that a node which the hub cannot hear trains on, and that no record of it is lost.",
}


def preview(job: Job, fault: FaultIn) -> FaultPreview:
    """
    Raises:
        Problem: it would be refused, as ``ask`` says.
    """
    targets = find_targets(job, fault)
    return FaultPreview(
        forecast=_forecast(job, fault, targets),
        proves=PROVES[fault.kind],
        warnings=warnings_of(job, targets, aim_of(fault, targets)),
    )


def _forecast(job: Job, fault: FaultIn, targets: Targets) -> FaultForecast:
    aim = aim_of(fault, targets)
    return forecast_fault(aim, situation_of(job, aim))


@transaction.atomic
def ask(job: Job, account: Account, fault: FaultIn) -> list[Command]:
    """Write the commands: one for each rank, or one for the node. All of them or none.

    Raises:
        Problem: see ``fault_aims.find_targets``.
    """
    targets = find_targets(job, fault)
    forecast = _forecast(job, fault, targets)
    wires = _commands(fault, targets, account)
    rows = [_write(job, account, targets, node, wire, forecast) for node, wire in wires]
    job_changed(job.id)
    return rows


def _write(
    job: Job, account: Account, targets: Targets, node: str, wire: AnyFault, forecast: FaultForecast
) -> Command:
    row = write_command(node, wire, job=job.id, attempt=targets.attempt.id, by=account)
    newest = targets.attempt.rounds.order_by("-number").values_list("number", flat=True).first()
    Fault.objects.create(
        command=row, job=job, attempt=targets.attempt, round=newest or 0, forecast=forecast.dict()
    )
    return row


def _commands(fault: FaultIn, targets: Targets, account: Account) -> list[tuple[str, AnyFault]]:
    if targets.member is None:
        return [(worker.node, _of_worker(fault, worker, account)) for worker in targets.workers]
    asked, member = _asked(fault, account), targets.member
    match fault.kind:
        case "kill_runner":
            attempt, number = targets.attempt.id, member.incarnation
            return [(member.node, KillRunner(**asked, attempt=attempt, incarnation=number))]
        case "kill_agent":
            return [(member.node, KillAgent(**asked))]
        case _:
            return [(member.node, CutNode(**asked, seconds=fault.seconds))]


def _of_worker(fault: FaultIn, worker: Worker, account: Account) -> AnyFault:
    values = _asked(fault, account) | {
        "attempt": worker.attempt_id,
        "round": worker.round,
        "rank": worker.rank,
        "pid": worker.pid,
        "start_time": worker.start_time,
    }
    match fault.kind:
        case "freeze_worker":
            return FreezeWorker(**values, seconds=fault.seconds)
        case "slow_worker":
            return SlowWorker(**values, seconds=fault.seconds, share=fault.share)
        case _:
            return KillWorker(**values, signal=fault.signal)


def _asked(fault: FaultIn, account: Account) -> dict[str, Any]:
    return {"id": str(uuid4()), "deadline_s": DEADLINE_S, "by": account.username, "why": fault.reason}


@transaction.atomic
def stop_all(account: Account) -> tuple[list[Command], str]:
    """Ask each node with a lasting fault to end it. One that is cut off cannot hear, and heals by itself."""
    running = Fault.objects.filter(command__state__in=OPEN, command__kind__in=LASTING)
    faults = list(running.select_related("command"))
    deaf = {f.command.node for f in faults if f.command.kind == CutNode.kind and f.begun_at is not None}
    nodes = sorted({fault.command.node for fault in faults} - deaf)
    rows = [_stop_on(node, account) for node in nodes]
    for job_id in sorted({fault.job_id for fault in faults}):
        job_changed(job_id)
    return rows, _say_stopped(nodes, sorted(deaf))


def _stop_on(node: str, account: Account) -> Command:
    wire = StopFaults(
        id=str(uuid4()), deadline_s=DEADLINE_S, by=account.username, why="all faults are to end"
    )
    return write_command(node, wire, by=account)


def _say_stopped(nodes: list[str], deaf: list[str]) -> str:
    if not nodes and not deaf:
        return "No fault runs that could be stopped."
    asked = f"{count(len(nodes), 'node')} asked to end all faults: {listed(nodes)}." if nodes else ""
    cut = f"{are(deaf)} cut off and cannot be told: the cut ends by itself." if deaf else ""
    return f"{asked} {cut}".strip()

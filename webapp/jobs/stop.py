"""The ladder of a stop, SIGTERM, grace, SIGKILL: how far it has come, and the step that skips the grace."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from uuid import uuid4

from agents.wire.commands import StopRunner
from agents.wire.lifecycle import JobState, Phase
from webapp.accounts.models import Account
from webapp.fleet.models import Command
from webapp.fleet.outbox import OPEN, write_command

from .models import Attempt, Job


def deadline_of(job: Job, attempt: Attempt | None) -> datetime | None:
    """When the last of its nodes sends SIGKILL, if it comes to that. None: it is not being stopped."""
    return grace_over_at(attempt) if attempt and job.state == JobState.STOPPING.value else None


def grace_over_at(attempt: Attempt) -> datetime | None:
    """The same, whatever the job's state says. None: no node with something left has been asked to stop."""
    live = attempt.members.filter(settled_at=None).values("node")
    asked = Command.objects.filter(attempt=attempt.id, kind=StopRunner.kind, node__in=live)
    by_node: dict[str, list[datetime]] = defaultdict(list)
    for command in asked:
        by_node[command.node].append(command.created_at + timedelta(seconds=command.body["grace_s"]))
    return max((min(deadlines) for deadlines in by_node.values()), default=None)


def is_forced(job: Job) -> bool:
    return job.stop_grace_s == 0


def force_end(attempt: Attempt, why: str, by: Account | None) -> int:
    """Ask every node that may still run something of it to kill it at once, whatever it was asked before.

    Gives how many were asked. A node that is asked for just that is not asked again.
    """
    asked = Command.objects.filter(attempt=attempt.id, kind=StopRunner.kind, state__in=OPEN)
    forced = {command.node for command in asked if command.body["grace_s"] == 0}
    live = attempt.members.filter(settled_at=None).exclude(phase=Phase.ENDED.value)
    nodes = [member.node for member in live if member.node not in forced]
    for node in nodes:
        command = StopRunner(
            id=str(uuid4()), by=by.username if by else "regroup", why=why, attempt=attempt.id, grace_s=0.0
        )
        write_command(node, command, job=attempt.job_id, attempt=attempt.id, by=by)
    return len(nodes)

"""Commands that no node took in time. A start that never happened fails its job."""

from __future__ import annotations

import redis
from django.db import transaction
from django.utils import timezone

from agents.wire.commands import StartRunner
from webapp.fleet.hearing import may_conclude
from webapp.fleet.leases import read_leases
from webapp.fleet.models import Command
from webapp.fleet.outbox import expire, find_late

from .apply import restand, start_did_not_happen
from .locks import lock_jobs


def end_late() -> int:
    """End those whose node would have taken them by now; gives how many. None while Redis does not answer."""
    late = find_late()
    if not late:
        return 0
    try:
        leases = read_leases()
    except redis.RedisError:
        return 0
    now = timezone.now()
    return sum(_end_one(row) for row in late if may_conclude(row, leases.get(row.node), now))


@transaction.atomic
def _end_one(command: Command) -> bool:
    lock_jobs([] if command.job is None else [command.job])
    if not expire(command):
        return False
    _tell_job(command)
    return True


def _tell_job(command: Command) -> None:
    if command.kind == StartRunner.kind:
        start_did_not_happen(command)
    elif command.job is not None:
        restand(command.job)

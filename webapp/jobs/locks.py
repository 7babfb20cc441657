"""One at a time for each job: whoever changes anything of a job locks its row first, the lowest id first.

So nobody waits for somebody who waits for them, and where a job stands is computed from rows that stay as
they are. On SQLite there is only ever one transaction that writes.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection

from agents.wire.event import KeeperEvent, RunnerEvent
from agents.wire.events import (
    AnyEvent,
    CommandEnded,
    CommandReceived,
    EvidenceKept,
    FaultBegun,
    HookEnded,
    RunnerSettled,
)
from webapp.fleet.outbox import find_commands

from .models import Attempt, Job


def lock_jobs(ids: Iterable[int]) -> None:
    """Until the end of the transaction. Does no harm when they are locked already."""
    if connection.features.has_select_for_update:
        # Rows that refer to a job may still be added by others, such as a kill's command.
        list(Job.objects.select_for_update(no_key=True).filter(pk__in=set(ids)).order_by("pk").values("pk"))


def lock_jobs_of(events: Iterable[AnyEvent]) -> None:
    """The jobs that these records can change anything of."""
    if not connection.features.has_select_for_update:
        return
    attempts, commands = set(), set()
    for event in events:
        match event:
            case RunnerEvent() | KeeperEvent() | RunnerSettled() | EvidenceKept() | HookEnded():
                attempts.add(event.attempt)
            case CommandReceived() | CommandEnded() | FaultBegun():
                commands.add(event.command)
            case _:
                pass
    of_attempts = Attempt.objects.filter(pk__in=attempts).values_list("job", flat=True)
    of_commands = find_commands(commands).exclude(job=None).values_list("job", flat=True)
    lock_jobs([*of_attempts, *(job for job in of_commands if job is not None)])

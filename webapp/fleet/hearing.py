"""May it be concluded that a node has not taken a command? Silence alone says nothing.

A node begins a command within its deadline or refuses it, notes that in its journal at once, and tells with
each lease how far that journal goes. So once the database has a journal up to where it was some seconds
after the deadline, and nothing in it speaks of the command, nobody ever will.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from agents.wire.commands import StartRunner
from webapp.events.models import Source

from .leases import Lease
from .models import Command

HEARD_OUT_S = 5.0
"""So long after the deadline a node has certainly noted what it began before it."""
PATIENCE_S = 60.0
"""So long after the deadline a node that is heard, but not heard out, is waited for."""


def may_conclude(row: Command, lease: Lease | None, now: datetime) -> bool:
    """Whether that command, whose deadline is over, may be called undelivered.

    A start is never concluded from silence: its job would have failed, and might train all the same.
    What ends something may be: whatever the node says later overrules it.
    """
    is_start = row.kind == StartRunner.kind
    deadline = (row.sent_at or row.created_at) + timedelta(seconds=row.deadline_s)
    if lease is None or lease.silence_s is None:
        return not is_start
    if _is_heard_out(lease, deadline, now):
        return True
    return not is_start and now > deadline + timedelta(seconds=PATIENCE_S)


def _is_heard_out(lease: Lease, deadline: datetime, now: datetime) -> bool:
    told_at = now - timedelta(seconds=lease.silence_s or 0.0)
    if told_at < deadline + timedelta(seconds=HEARD_OUT_S):
        return False
    taken = Source.objects.filter(name=lease.journal).values_list("last_seq", flat=True).first()
    return taken is not None and taken >= lease.seq

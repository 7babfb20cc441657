"""What a person asked of a job, as a record among those of its runners: the cause before its effect."""

from __future__ import annotations

from typing import Any

from django.db.models import Max
from django.utils import timezone

from webapp.database import take_turns

from .models import Record


def take_turn_of_events() -> None:
    """Call first in a transaction that notes something, before it locks any job.

    Ingest does so too: records have to be committed in the order of their ids, and nobody may wait for
    somebody who waits for them.
    """
    take_turns("ingest")


def note_asked(kind: str, attempt: str, node: str, said: dict[str, Any]) -> None:
    """Write the record. The hub numbers its own as any other source does."""
    source, now = f"hub/{attempt}", timezone.now()
    last = Record.objects.filter(source=source).aggregate(last=Max("seq"))["last"] or 0
    Record.objects.create(
        source=source,
        seq=last + 1,
        kind=kind,
        at=now,
        received_at=now,
        node=node,
        attempt=attempt,
        body={"kind": kind, "node": node, "attempt": attempt, **said},
    )

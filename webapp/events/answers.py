"""Pages of journal records."""

from __future__ import annotations

from collections.abc import Collection

from webapp.masking import mask

from .models import Record
from .schemas import EventOut, EventPage
from .sentences import says

QUIET = frozenset({"progress", "activity"})
"""Kinds that come all the time; the page of events leaves them out unless asked."""


def event_out(record: Record) -> EventOut:
    return EventOut(
        cursor=record.id,
        source=record.source,
        seq=record.seq,
        kind=record.kind,
        at=record.at,
        received_at=record.received_at,
        node=record.node,
        attempt=record.attempt,
        round=record.round,
        inferred=record.inferred,
        says=says(record.kind, record.body),
        body=mask(record.body),
    )


def event_page(
    attempts: Collection[str], after: int = 0, limit: int = 200, kinds: Collection[str] = ()
) -> EventPage:
    """Records of these attempts in the order in which they were committed, behind the cursor ``after``.

    ``next`` is the cursor to go on with; it stays the same while there is nothing new.
    """
    records = Record.objects.filter(attempt__in=list(attempts), id__gt=after)
    if kinds:
        records = records.filter(kind__in=list(kinds))
    items = [event_out(record) for record in records.order_by("id")[:limit]]
    return EventPage(items=items, next=str(items[-1].cursor if items else after))

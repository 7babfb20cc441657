"""Stalls as marks of the timeline: where the last sign of progress came."""

from __future__ import annotations

from .models import Job
from .stacks import STALLS, say_stall
from .timeline_schemas import MarkOut


def stall_marks(job: Job, attempt: int | None = None) -> list[MarkOut]:
    """Of all attempts, or of the one with that number; the newest of many."""
    rows = job.stalls.all() if attempt is None else job.stalls.filter(attempt__number=attempt)
    return [
        MarkOut(
            kind="stall",
            at=row.began_at,
            node=row.node or None,
            rank=row.rank,
            round=row.round,
            says=say_stall(row),
        )
        for row in rows.order_by("-id")[:STALLS]
    ]

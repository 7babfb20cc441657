"""How each node and each rank came into one round, as an answer."""

from __future__ import annotations

from collections.abc import Iterator

from webapp.errors import not_found

from .models import Job, NodeMoments
from .moments import ahead_s
from .timeline_schemas import ClockOut, WaterfallOut, WaterfallRow
from .waterfall import moments_of, moments_of_ranks, told_phases


def waterfall_out(job: Job, attempt: int, number: int) -> WaterfallOut:
    """Raises an answer with status 404 where the job has no such round."""
    if not job.attempts.filter(number=attempt, rounds__number=number).exists():
        raise not_found(f"Attempt {attempt} of job {job.id} has no round {number}.")
    rows = list(
        NodeMoments.objects.filter(attempt__job=job, attempt__number=attempt, round=number).order_by("node")
    )
    return WaterfallOut(
        attempt=attempt,
        number=number,
        rows=[line for row in rows for line in _lines(row)],
        clocks=[
            ClockOut(node=row.node, offset_s=row.offset_s, error_s=row.error_s, taken_s=ahead_s(row))
            for row in rows
        ],
    )


def _lines(row: NodeMoments) -> Iterator[WaterfallRow]:
    of_node = moments_of(row.node, row.of_node)
    yield WaterfallRow(node=row.node, rank=None, phases=told_phases(of_node, of_rank=False))
    for rank, moments in moments_of_ranks(row.node, row.of_node, row.of_ranks).items():
        yield WaterfallRow(node=row.node, rank=rank, phases=told_phases(moments, of_rank=True))

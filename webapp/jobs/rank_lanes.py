"""The lanes of a node's ranks: for each rank its workers of all rounds, from their start to their end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple, cast

from .models import Job, Worker
from .schemas import WorkerStateWord
from .timeline_schemas import RankLaneOut, RankLanesOut, WorkerSpanOut


class Life(NamedTuple):
    """What is told of one worker."""

    node: str
    rank: int
    attempt: int
    round: int
    started_at: datetime
    ended_at: datetime | None
    role: str


def rank_lanes_out(job: Job, nodes: Sequence[str], attempt: int | None = None) -> RankLanesOut:
    """Of all attempts, or of the one with that number. A node that had no worker has no lane."""
    workers = Worker.objects.filter(attempt__job=job, node__in=nodes)
    if attempt is not None:
        workers = workers.filter(attempt__number=attempt)
    found = workers.order_by("node", "rank", "attempt__number", "round").values_list(
        "node", "rank", "attempt__number", "round", "started_at", "ended_at", "role"
    )
    return RankLanesOut(items=lanes_of(map(Life._make, found)))


def lanes_of(lives: Iterable[Life]) -> list[RankLaneOut]:
    """One lane for each rank of each node. They come sorted by node and rank, and by time within."""
    grouped = groupby(lives, key=lambda life: (life.node, life.rank))
    return [
        RankLaneOut(node=node, rank=rank, spans=[_span(life) for life in own])
        for (node, rank), own in grouped
    ]


def _span(life: Life) -> WorkerSpanOut:
    return WorkerSpanOut(
        attempt=life.attempt,
        round=life.round,
        began_at=life.started_at,
        ended_at=life.ended_at,
        state=cast(WorkerStateWord, life.role),
    )

"""The restart timeline: a lane for each node, rounds, and marks for what happened."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import cast

from django.db.models import QuerySet
from django.utils import timezone

from agents.wire.lifecycle import JobState
from webapp.events.models import Record
from webapp.events.sentences import says

from .causes import Causes
from .fault_marks import fault_marks
from .models import Attempt, Job, PhaseSpan, Round, Worker
from .shelf import Shelf
from .stall_marks import stall_marks
from .timeline_schemas import CauseWord, LaneOut, MarkOut, MarkWord, PhaseWord, RoundOut, SpanOut, TimelineOut
from .waterfall import phases, read_moments, recovery_s, typical, unaccounted_s
from .words import ended

CHECKPOINTS = 500
"""Newest checkpoint marks that one answer holds."""

MOST_HELD = 50
"""Jobs whose timeline a process holds: many look at the same one, and ask again with each news of it."""

Attempts = QuerySet[Attempt]


def timeline_out(job: Job, attempt: int | None = None) -> TimelineOut:
    """All attempts, or the one with that number. Call within ``one_moment``."""
    told = _whole.of(job) if attempt is None else _read(job, attempt)
    return told.model_copy(update={"now": timezone.now()})


def _read(job: Job, attempt: int | None = None) -> TimelineOut:
    attempts = job.attempts.all() if attempt is None else job.attempts.filter(number=attempt)
    rounds = list(Round.objects.filter(attempt__in=attempts).select_related("attempt").order_by("formed_at"))
    causes = Causes(rounds)
    marks = [
        *_failures(attempts),
        *fault_marks(attempts),
        *_checkpoints(attempts),
        *stall_marks(job, attempt),
        *_membership(rounds),
        *_end(job),
    ]
    return TimelineOut(
        began_at=job.created_at,
        now=timezone.now(),
        ended_at=job.ended_at,
        rounds=[_round(before, row, causes) for before, row in zip([None, *rounds], rounds, strict=False)],
        lanes=_lanes(attempts),
        marks=sorted(marks, key=lambda mark: mark.at),
        typical=typical(read_moments(row.moments) for row in rounds if row.cause != "start"),
    )


def _round(before: Round | None, row: Round, causes: Causes) -> RoundOut:
    moments = read_moments(row.moments)
    return RoundOut(
        attempt=row.attempt.number,
        number=row.number,
        world_size=row.world_size,
        nodes=row.nodes,
        restart=cast(CauseWord, row.cause),
        cause=causes.cause(row),
        consequences=causes.consequences(row),
        charged=row.charged or None,
        why=row.why,
        resumed_step=row.resumed_step,
        steps_redone=_steps_redone(before, row),
        phases=phases(moments),
        recovery_s=recovery_s(moments),
        unaccounted_s=unaccounted_s(moments),
        formed_at=row.formed_at,
    )


def _steps_redone(before: Round | None, row: Round) -> int | None:
    if before is None or before.last_step is None or row.resumed_step is None:
        return None
    return max(0, before.last_step - row.resumed_step)


def _lanes(attempts: Attempts) -> list[LaneOut]:
    lanes: dict[str, list[SpanOut]] = defaultdict(list)
    for span in PhaseSpan.objects.filter(attempt__in=attempts).order_by("began_at", "id"):
        lanes[span.node].append(
            SpanOut(
                phase=cast(PhaseWord, span.phase),
                round=span.round,
                began_at=span.began_at,
                ended_at=span.ended_at,
            )
        )
    return [LaneOut(node=node, spans=spans) for node, spans in sorted(lanes.items())]


def _failures(attempts: Attempts) -> list[MarkOut]:
    failed = Worker.objects.filter(attempt__in=attempts, role="cause").exclude(ended_at=None)
    return [
        MarkOut(
            kind="failure",
            at=worker.ended_at or worker.started_at,
            node=worker.node,
            rank=worker.rank,
            round=worker.round,
            says=f"{ended(worker.rank, worker.node, worker.said)}.",
        )
        for worker in failed
    ]


def _checkpoints(attempts: Attempts) -> list[MarkOut]:
    kinds: dict[str, MarkWord] = {"checkpoint_saved": "checkpoint", "resumed": "resumed"}
    records = Record.objects.filter(attempt__in=attempts.values("id"), kind__in=kinds).order_by("-id")[
        :CHECKPOINTS
    ]
    return [
        MarkOut(
            kind=kinds[record.kind],
            at=record.at,
            node=record.node,
            rank=record.body.get("rank"),
            round=record.round,
            says=says(record.kind, record.body),
        )
        for record in records
    ]


def _membership(rounds: list[Round]) -> list[MarkOut]:
    """Who came and who left from one round to the next of the same attempt."""
    marks = []
    for before, after in itertools.pairwise(rounds):
        if before.attempt_id != after.attempt_id:
            continue
        marks += [_move("join", node, after) for node in after.nodes if node not in before.nodes]
        marks += [_move("leave", node, after) for node in before.nodes if node not in after.nodes]
    return marks


def _move(kind: MarkWord, node: str, row: Round) -> MarkOut:
    words: dict[MarkWord, str] = {
        "join": f"{node} joined in round {row.number}.",
        "leave": f"{node} is not in round {row.number}.",
    }
    return MarkOut(kind=kind, at=row.formed_at, node=node, rank=None, round=row.number, says=words[kind])


def _end(job: Job) -> list[MarkOut]:
    if job.ended_at is None or not JobState(job.state).is_terminal:
        return []
    return [MarkOut(kind="ended", at=job.ended_at, node=None, rank=None, round=None, says=job.state_reason)]


_whole = Shelf(_read, MOST_HELD)

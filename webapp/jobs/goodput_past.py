"""Reads what has become of a job's attempts and rounds, as its wall time is told from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.db.models import OuterRef, Subquery

from webapp.events.models import Record

from .fault_rounds import killed_runners, planned_rounds
from .goodput_turns import RoundTimes
from .models import Attempt, Job, PhaseSpan, Round, Stall
from .moments import Moments

Asked = tuple[datetime, str]
"""When somebody asked for a node to be drained, or, with no name of a node, for another number of them."""


@dataclass(frozen=True)
class Past:
    """The same whatever time it is now."""

    attempts: Sequence[tuple[Attempt, datetime | None]]
    """In order, with when the first runner of each was heard to have begun."""
    rounds: Mapping[str, Sequence[Round]]
    """By attempt, in order."""
    times: Mapping[str, Sequence[RoundTimes]]
    """Of the same rounds, without their stalls."""
    stalls: Sequence[Stall]


def read_past(job: Job) -> Past:
    rounds = _rounds(job)
    planned = _planned(rounds)
    times = {key: [_times(row, row.pk in planned) for row in rows] for key, rows in rounds.items()}
    return Past(_attempts(job), rounds, times, list(job.stalls.defer("stacks", "asked")))


def _attempts(job: Job) -> list[tuple[Attempt, datetime | None]]:
    first = PhaseSpan.objects.filter(attempt=OuterRef("pk")).order_by("id").values("began_at")[:1]
    found = job.attempts.annotate(set_out_at=Subquery(first)).order_by("number")
    return [(attempt, attempt.set_out_at) for attempt in found]


def _rounds(job: Job) -> dict[str, list[Round]]:
    found: dict[str, list[Round]] = defaultdict(list)
    rows = Round.objects.filter(attempt__job=job).order_by("attempt__number", "number")
    for row in rows.defer("claims", "absent"):
        found[row.attempt_id].append(row)
    return found


def _times(row: Round, is_planned: bool) -> RoundTimes:
    return RoundTimes(
        formed_at=row.formed_at,
        world_size=row.world_size,
        is_planned=is_planned,
        resumed_step=row.resumed_step,
        last_step=row.last_step,
        moments=read_moments(row.moments),
    )


def read_moments(moments: Moments) -> dict[str, datetime]:
    return {name: datetime.fromisoformat(told["at"]) for name, told in moments.items()}


# -- what somebody asked for --------------------------------------------------------------


def _planned(rounds: Mapping[str, Sequence[Round]]) -> set[int]:
    """Rounds that began because of a fault by hand, another number of nodes, or a drain."""
    moves = [row for rows in rounds.values() for row in rows if row.cause == "membership"]
    moved = {row.attempt_id for row in moves}
    asked = _asked(moved) if moves else {}
    found = {row.pk for rows in rounds.values() for row in rows if _was_sent_by_hand(row)}
    found |= planned_rounds(rounds, killed_runners(moved)) if moves else set()
    for attempt, told in asked.items():
        found |= {row.pk for before, row in pairwise(rounds[attempt]) if _was_asked(before, row, told)}
    return found


def _was_sent_by_hand(row: Round) -> bool:
    return row.cause == "failure" and "fault" in row.moments


def _asked(attempts: Iterable[str]) -> dict[str, list[Asked]]:
    found: dict[str, list[Asked]] = defaultdict(list)
    records = Record.objects.filter(attempt__in=attempts, kind__in=("scale_asked", "drain_asked"))
    for attempt, at, node in records.values_list("attempt", "at", "node"):
        found[attempt].append((at, node))
    return found


def _was_asked(before: Round, row: Round, told: Iterable[Asked]) -> bool:
    """A drain counts where its node has left."""
    left = {node for node in before.nodes if node not in row.nodes}
    is_move = row.cause == "membership"
    return is_move and any(before.formed_at < at <= row.formed_at and (not n or n in left) for at, n in told)

"""Where the wall time of a job went, from few queries: a live page asks again and again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from django.db.models import OuterRef, Subquery

from agents.wire.lifecycle import JobState
from agents.wire.spec import nproc_on
from webapp.events.models import Record
from webapp.fleet.models import Node

from .fault_rounds import killed_runners, planned_rounds
from .goodput_parts import Part, goodput
from .goodput_schemas import GoodputOut, GoodputPart
from .goodput_turns import AttemptTimes, JobTimes, RoundTimes
from .goodput_words import say_goodput
from .models import Attempt, Job, NodeMoments, PhaseSpan, Round
from .moments import COMING, Moments, merge
from .specs import spec_of

ON_THE_WAY = frozenset({JobState.RESTARTING, JobState.WAITING, JobState.FORMING})
"""States in which nodes may be on their way to a round that has not formed."""
HOUR_S = 3600.0
Asked = tuple[datetime, str]
"""When somebody asked for a node to be drained, or, with no name of a node, for another number of them."""


def goodput_out(job: Job, now: datetime, step: int | None = None, nodes: Iterable[Node] = ()) -> GoodputOut:
    """``step``: how far the newest round has come. ``nodes``: those of the newest attempt."""
    told = goodput(times_of(job, now, step))
    worker_hours = sum(part.worker_s for part in told.parts) / HOUR_S
    return GoodputOut(
        wall_s=told.wall_s,
        share=told.share,
        worker_hours=worker_hours,
        gpu_hours=worker_hours if _has_gpus(job, list(nodes)) else None,
        parts=[_part(part) for part in told.parts],
        says=say_goodput(told),
    )


def _part(part: Part) -> GoodputPart:
    return GoodputPart(
        kind=part.kind,
        seconds=part.seconds,
        planned_s=part.planned_s,
        worker_hours=part.worker_s / HOUR_S,
    )


def _has_gpus(job: Job, nodes: Sequence[Node]) -> bool:
    """Whether each worker is given a GPU of its own, by what the nodes said of themselves."""
    spec = spec_of(job)
    if not nodes or "CUDA_VISIBLE_DEVICES" in spec.env:
        return spec.nproc_per_node == "gpu"
    counts = [(int(node.facts.get("cpus", 0)), len(node.facts.get("gpus", ()))) for node in nodes]
    return all(gpus and gpus >= nproc_on(spec, cpus, gpus) for cpus, gpus in counts)


def times_of(job: Job, now: datetime, step: int | None = None) -> JobTimes:
    attempts, rounds = _attempts(job), _rounds(job)
    planned, stalled = _planned(rounds), _stalled(job, now)
    times = {
        key: [_times(row, row.pk in planned, stalled[key, row.number]) for row in rows]
        for key, rows in rounds.items()
    }
    if attempts and not JobState(job.state).is_terminal:
        newest = attempts[-1][0].id
        times[newest] = [*_still_going(times.get(newest, []), step), *_on_the_way(job, newest)]
    return JobTimes(
        began_at=job.created_at,
        ends_at=job.ended_at or now,
        attempts=tuple(
            AttemptTimes(
                set_out_at=set_out_at,
                ended_at=attempt.ended_at,
                rounds=tuple(times.get(attempt.id, ())),
            )
            for attempt, set_out_at in attempts
        ),
        lost_sight_at=job.state_since if job.state == JobState.UNKNOWN else None,
    )


def _attempts(job: Job) -> list[tuple[Attempt, datetime | None]]:
    """With when the first runner of each was heard to have begun."""
    first = PhaseSpan.objects.filter(attempt=OuterRef("pk")).order_by("id").values("began_at")[:1]
    found = job.attempts.annotate(set_out_at=Subquery(first)).order_by("number")
    return [(attempt, attempt.set_out_at) for attempt in found]


def _rounds(job: Job) -> dict[str, list[Round]]:
    found: dict[str, list[Round]] = defaultdict(list)
    rows = Round.objects.filter(attempt__job=job).order_by("attempt__number", "number")
    for row in rows.defer("claims", "absent", "why", "charged"):
        found[row.attempt_id].append(row)
    return found


def _stalled(job: Job, now: datetime) -> dict[tuple[str, int], float]:
    """Seconds by attempt and round."""
    found: dict[tuple[str, int], float] = defaultdict(float)
    for row in job.stalls.only("attempt_id", "round", "began_at", "ended_at"):
        over_at = row.ended_at or job.ended_at or now
        found[row.attempt_id, row.round] += max(0.0, (over_at - row.began_at).total_seconds())
    return found


def _times(row: Round, is_planned: bool, stalled_s: float) -> RoundTimes:
    return RoundTimes(
        formed_at=row.formed_at,
        world_size=row.world_size,
        is_planned=is_planned,
        resumed_step=row.resumed_step,
        last_step=row.last_step,
        stalled_s=stalled_s,
        moments=_read_moments(row.moments),
    )


def _read_moments(moments: Moments) -> dict[str, datetime]:
    return {name: datetime.fromisoformat(told["at"]) for name, told in moments.items()}


def _still_going(rows: Sequence[RoundTimes], step: int | None) -> list[RoundTimes]:
    """How far the newest round came is written when it ends; until then its workers tell."""
    if not rows or rows[-1].last_step is not None:
        return list(rows)
    return [*rows[:-1], replace(rows[-1], last_step=step)]


def _on_the_way(job: Job, attempt: str) -> list[RoundTimes]:
    """The way into a round that has not formed, as far as its nodes have come."""
    if job.state not in ON_THE_WAY:
        return []
    moments: Moments = {}
    for row in NodeMoments.objects.filter(attempt=attempt, round=COMING).only("node", "of_node"):
        for name, at in row.of_node.items():
            merge(moments, name, datetime.fromisoformat(at), row.node, None)
    return [RoundTimes(formed_at=None, is_planned="fault" in moments, moments=_read_moments(moments))]


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

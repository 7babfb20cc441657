"""Where the wall time of a job went, as of now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from agents.wire.lifecycle import JobState
from agents.wire.spec import nproc_on
from webapp.fleet.models import Node

from .goodput_parts import Part, goodput
from .goodput_past import Past, read_moments
from .goodput_schemas import GoodputOut, GoodputPart
from .goodput_turns import AttemptTimes, JobTimes, RoundTimes
from .goodput_words import say_goodput
from .models import Job, NodeMoments
from .moments import COMING, Moments, merge
from .specs import spec_of

ON_THE_WAY = frozenset({JobState.RESTARTING, JobState.WAITING, JobState.FORMING})
"""States in which nodes may be on their way to a round that has not formed."""
HOUR_S = 3600.0


def goodput_out(
    job: Job, past: Past, now: datetime, step: int | None = None, nodes: Iterable[Node] = ()
) -> GoodputOut:
    """``step``: how far the newest round has come. ``nodes``: those of the newest attempt."""
    told = goodput(times_of(job, past, now, step))
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


def times_of(job: Job, past: Past, now: datetime, step: int | None = None) -> JobTimes:
    times = _with_stalls(job, past, now)
    if past.attempts and not JobState(job.state).is_terminal:
        newest = past.attempts[-1][0].id
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
            for attempt, set_out_at in past.attempts
        ),
        lost_sight_at=job.state_since if job.state == JobState.UNKNOWN else None,
    )


def _with_stalls(job: Job, past: Past, now: datetime) -> dict[str, Sequence[RoundTimes]]:
    """An open one lasts until now."""
    seconds: dict[tuple[str, int], float] = defaultdict(float)
    for stall in past.stalls:
        over_at = stall.ended_at or job.ended_at or now
        seconds[stall.attempt_id, stall.round] += max(0.0, (over_at - stall.began_at).total_seconds())
    times = dict(past.times)
    for key in {attempt for attempt, _ in seconds} & times.keys():
        pairs = zip(past.rounds[key], times[key], strict=True)
        times[key] = [replace(told, stalled_s=seconds.get((key, row.number), 0.0)) for row, told in pairs]
    return times


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
    return [RoundTimes(formed_at=None, is_planned="fault" in moments, moments=read_moments(moments))]

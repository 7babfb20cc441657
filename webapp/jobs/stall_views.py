"""Puts together what is known of each worker of the newest round, as stalls are judged by. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from agents.wire.lifecycle import Phase, RunnerState, WorkerState
from agents.wire.usage import WorkerUsage

from .samples import Sample, Samples
from .situation import JobFacts, MemberFacts
from .stack_groups import Group
from .stalls import WorkerView

LATE_S = 0.05
"""A worker notes the moment of a report so much before it is written, at most."""
FRESH_S = 3.0
"""A node that is heard samples its workers each 2 s. What an older sample leaves open is no silence."""

SLEEPS_S = 5.0
"""Whoever waits for a disk sleeps like that for a moment. Nobody is blamed for what ends sooner."""


def is_up(facts: JobFacts) -> bool:
    """The newest round stands, all of its workers run, and nothing of it is on its way to an end."""
    newest = facts.newest
    members = facts.in_newest
    if newest is None or facts.wants_stop or not members:
        return False
    return all(
        m.runner.phase is Phase.UP
        and m.runner.round == newest.number
        and not m.leaves
        and all(worker.state == "running" for worker in m.runner.workers)
        for m in members
    )


def up_since(facts: JobFacts) -> datetime | None:
    return max((m.runner.since for m in facts.in_newest if m.runner.since is not None), default=None)


def views_of(
    facts: JobFacts, attempt: str, samples: Samples, groups: Iterable[Group] = ()
) -> list[WorkerView]:
    placed = {rank: group for group in groups for rank in group.ranks}
    return [
        _view(worker, member, _usage_of(worker, samples.get(member.node), attempt), samples, placed)
        for member in facts.in_newest
        for worker in member.runner.workers
    ]


def _usage_of(worker: WorkerState, sample: Sample | None, attempt: str) -> WorkerUsage | None:
    """Of that very process."""
    key = (worker.ref.rank, worker.ref.pid, worker.ref.start_time)
    told = sample.of_attempt(attempt) if sample is not None else ()
    return next((one for one in told if (one.rank, one.pid, one.start_time) == key), None)


def _view(
    worker: WorkerState,
    member: MemberFacts,
    usage: WorkerUsage | None,
    samples: Samples,
    placed: dict[int, Group],
) -> WorkerView:
    sample, group = samples.get(member.node), placed.get(worker.ref.rank)
    age_s = sample.age_s if sample is not None else 0.0
    is_seen = (
        usage is not None
        and sample is not None
        and age_s <= FRESH_S
        and _knows_all(member.runner, usage, sample)
    )

    def aged(seconds: float | None) -> float | None:
        return None if seconds is None else seconds + age_s

    def since(at: datetime | None) -> float | None:
        """By the node's clock, on which the sample was taken too."""
        return None if at is None or sample is None else max(0.0, (sample.at - at).total_seconds() + age_s)

    return WorkerView(
        rank=worker.ref.rank,
        node=member.node,
        step=worker.step,
        total=worker.total,
        trail=worker.trail,
        saving_step=worker.saving_step,
        is_seen=is_seen,
        state=_lasting_state(usage) if usage is not None else "",
        saved_s=since(worker.saved_at),
        silence_s=_least(aged(usage.said_s), since(worker.progress_at)) if usage is not None else None,
        wrote_s=aged(usage.wrote_s) if usage is not None else None,
        matched_s=aged(usage.matched_s) if usage is not None else None,
        stands=group.place if group is not None else "",
        stands_out=group is not None and group.stands_out,
    )


def _lasting_state(usage: WorkerUsage) -> str:
    return "" if usage.state == "D" and usage.state_s < SLEEPS_S else usage.state


def _least(*seconds: float | None) -> float | None:
    return min((one for one in seconds if one is not None), default=None)


def _knows_all(runner: RunnerState, usage: WorkerUsage, sample: Sample) -> bool:
    """Whether what the worker reported last has come here, too: both moments are by the node's clock.

    Where records are late, as after an outage, what looks like silence may be what has not arrived. A report
    is recorded after it was written, together with the newest of the other workers.
    """
    if usage.said_s is None or runner.told_at is None:
        return runner.told_at is not None
    said_at = sample.at - timedelta(seconds=usage.said_s)
    return runner.told_at >= said_at - timedelta(seconds=LATE_S)

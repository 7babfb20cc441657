"""All attempts of a job as answers: why each ended, and how many relaunches are left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from agents.wire.lifecycle import JobState
from agents.wire.spec import JobSpec

from .models import Attempt, Job, Member
from .schemas import AttemptOut, RelaunchesOut


def limit_of(job: Job) -> int:
    """How many attempts may follow one that ended for no fault of the job's."""
    return int(job.spec.get("max_relaunches", JobSpec().max_relaunches))


def count_used(job: Job) -> int:
    return job.attempts.filter(is_infrastructure=True).count()


def relaunches_out(job: Job, used: int) -> RelaunchesOut:
    is_due = job.state == JobState.QUEUED.value
    return RelaunchesOut(used=used, max=limit_of(job), next_at=job.not_before if is_due else None)


def attempt_outs(job: Job, attempts: Sequence[Attempt], rounds: Mapping[str, int]) -> list[AttemptOut]:
    """The newest first. ``attempts`` in order; ``rounds``: how many each of them had."""
    nodes: dict[str, list[str]] = defaultdict(list)
    members = Member.objects.filter(attempt__job=job).order_by("node")
    for attempt, node in members.values_list("attempt", "node"):
        nodes[attempt].append(node)
    return [_attempt(one, nodes[one.id], rounds.get(one.id, 0), job) for one in reversed(attempts)]


def _attempt(attempt: Attempt, nodes: list[str], rounds: int, job: Job) -> AttemptOut:
    return AttemptOut(
        id=attempt.id,
        number=attempt.number,
        began_at=attempt.created_at,
        ended_at=attempt.ended_at,
        why=_why(attempt, job),
        is_infrastructure=attempt.is_infrastructure,
        nodes=nodes,
        rounds=rounds,
    )


def _why(attempt: Attempt, job: Job) -> str:
    """The last one ends for the reason for which the job does."""
    is_last = attempt.ended_at is not None and JobState(job.state).is_terminal
    return attempt.ended_why or (job.state_reason if is_last else "")

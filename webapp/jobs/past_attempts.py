"""All attempts of a job as answers: why each ended, and how many relaunches are left."""

from __future__ import annotations

from django.db.models import Count

from agents.wire.lifecycle import JobState
from agents.wire.spec import JobSpec

from .models import Attempt, Job
from .schemas import AttemptOut, RelaunchesOut


def limit_of(job: Job) -> int:
    """How many attempts may follow one that ended for no fault of the job's."""
    return int(job.spec.get("max_relaunches", JobSpec().max_relaunches))


def count_used(job: Job) -> int:
    return job.attempts.filter(is_infrastructure=True).count()


def relaunches_out(job: Job) -> RelaunchesOut:
    is_due = job.state == JobState.QUEUED.value
    return RelaunchesOut(used=count_used(job), max=limit_of(job), next_at=job.not_before if is_due else None)


def attempt_outs(job: Job) -> list[AttemptOut]:
    """The newest first."""
    found = job.attempts.annotate(formed=Count("rounds")).prefetch_related("members")
    return [_attempt(attempt, attempt.formed, job) for attempt in found.order_by("-number")]


def _attempt(attempt: Attempt, rounds: int, job: Job) -> AttemptOut:
    return AttemptOut(
        id=attempt.id,
        number=attempt.number,
        began_at=attempt.created_at,
        ended_at=attempt.ended_at,
        why=_why(attempt, job),
        is_infrastructure=attempt.is_infrastructure,
        nodes=sorted(member.node for member in attempt.members.all()),
        rounds=rounds,
    )


def _why(attempt: Attempt, job: Job) -> str:
    """The last one ends for the reason for which the job does."""
    is_last = attempt.ended_at is not None and JobState(job.state).is_terminal
    return attempt.ended_why or (job.state_reason if is_last else "")

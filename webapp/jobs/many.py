"""Stopping several jobs with one request: each has a result of its own, and none keeps the others."""

from __future__ import annotations

from collections.abc import Sequence

from webapp.accounts.models import Account
from webapp.errors import Problem

from .many_schemas import StopManyOut, StopResult
from .models import Job
from .services import stop_job


def stop_many(account: Account, ids: Sequence[int], reason: str) -> StopManyOut:
    """A job that has been asked to stop shows it by its state, which evidence from its nodes moves on."""
    jobs = Job.objects.select_related("created_by").in_bulk(list(ids))
    results = [_stop(account, number, jobs.get(number), reason) for number in dict.fromkeys(ids)]
    return StopManyOut(items=results)


def _stop(account: Account, number: int, job: Job | None, reason: str) -> StopResult:
    if job is None:
        return StopResult(id=number, name="", state=None, problem=f"There is no job {number}.")
    try:
        stopped = stop_job(job, account, reason)
    except Problem as problem:
        return StopResult(id=number, name=job.name, state=job.state, problem=problem.what)
    return StopResult(id=number, name=job.name, state=stopped.state, problem="")

"""Workers over HTTP: what they use, where they stand, and when they stood still."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router

from webapp.errors import ERRORS, not_found

from .models import Job
from .stacks import Asked, stacks_out, stall_page
from .stall_schemas import StacksOut, StallPage, UsageOut
from .usage import usage_out

router = Router(tags=["jobs"])

Number = Annotated[int, Query(ge=0, le=1 << 31)]


def _job(job_id: int) -> Job:
    job = Job.objects.filter(pk=job_id).first() if job_id < 1 << 63 else None
    if job is None:
        raise not_found(f"There is no job {job_id}.")
    return job


@router.get("/jobs/{id}/workers/usage", response={200: UsageOut, **ERRORS})
def usage(request: HttpRequest, id: int) -> UsageOut:
    """What each worker of the newest round uses, as its node said within the last seconds."""
    return usage_out(_job(id))


@router.get("/jobs/{id}/stacks", response={200: StacksOut, **ERRORS})
def stacks(
    request: HttpRequest,
    id: int,
    attempt: Number | None = None,
    round: Number | None = None,
    rank: Number | None = None,
) -> StacksOut:
    """Where workers stand in their code now: all of a round, or one rank. It may take three seconds."""
    return stacks_out(_job(id), Asked(attempt, round, rank))


@router.get("/jobs/{id}/stalls", response={200: StallPage, **ERRORS})
def stalls(request: HttpRequest, id: int) -> StallPage:
    """When workers ran and came no further, the newest first, with the stacks that were taken of it."""
    return stall_page(_job(id))

"""Several jobs at once, and jobs out of sight, over HTTP."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router

from webapp.accounts.auth import account_of
from webapp.errors import ERRORS, not_found

from .answers import job_out
from .archive import archive, put_back
from .many import stop_many
from .many_schemas import StopManyIn, StopManyOut
from .models import Job
from .schemas import JobOut

router = Router(tags=["jobs"])


@router.post("/jobs/stop", response={200: StopManyOut, **ERRORS})
def stop_several(request: HttpRequest, data: StopManyIn) -> StopManyOut:
    """Ask several jobs to stop. Each has its own result, and shows by its state when it has stopped."""
    return stop_many(account_of(request), data.ids, data.reason)


@router.post("/jobs/{int:id}/archive", response={200: JobOut, **ERRORS})
def put_away(request: HttpRequest, id: int) -> JobOut:
    """Leave an ended job out of lists. All that is known of it is kept."""
    archive(_job(id))
    return job_out(_job(id))


@router.post("/jobs/{int:id}/unarchive", response={200: JobOut, **ERRORS})
def take_back(request: HttpRequest, id: int) -> JobOut:
    """Have it in lists again."""
    put_back(_job(id))
    return job_out(_job(id))


def _job(number: int) -> Job:
    jobs = Job.objects.select_related("created_by", "stopped_by")
    job = jobs.filter(pk=number).first() if number < 1 << 63 else None
    if job is None:
        raise not_found(f"There is no job {number}.")
    return job

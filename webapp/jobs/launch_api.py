"""Before a launch, over HTTP: where a job would run, and what stands in its way there."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router, Status

from webapp.accounts.auth import account_of
from webapp.errors import ERRORS, not_found

from .check_schemas import ChecksBegun, ChecksIn, ChecksOut, JobChecksOut
from .check_table import table
from .checks import begin, carry_on
from .job_checks import begin_again, job_checks_out
from .models import Job
from .placing_schemas import PreviewOut
from .preview import preview
from .schemas import JobIn

router = Router(tags=["jobs"])


@router.post("/jobs/preview", response={200: PreviewOut, **ERRORS})
def look_ahead(request: HttpRequest, data: JobIn) -> PreviewOut:
    """On which nodes a job would run if it were launched now, or why it would wait. Nothing is launched."""
    return preview(account_of(request), data)


@router.post("/jobs/checks", response={202: ChecksBegun, **ERRORS})
def check(request: HttpRequest, data: ChecksIn) -> Status[ChecksBegun]:
    """Have nodes looked at for a job. Ask ``/api/checks/{id}`` how it goes: that carries it on."""
    return Status(202, ChecksBegun(id=begin(account_of(request), data, data.nodes_to_check).id))


@router.get("/jobs/{int:id}/checks", response={200: JobChecksOut, **ERRORS})
def checks_of_launch(request: HttpRequest, id: int) -> JobChecksOut:
    """What the checks found that the job was launched with."""
    return job_checks_out(_job(id))


@router.post("/jobs/{int:id}/checks", response={202: ChecksBegun, **ERRORS})
def check_again(request: HttpRequest, id: int) -> Status[ChecksBegun]:
    """Have the nodes of the job's newest attempt looked at now. Its workers are left alone."""
    return Status(202, ChecksBegun(id=begin_again(_job(id)).id))


@router.get("/checks/{id}", response={200: ChecksOut, **ERRORS})
def look_at_checks(request: HttpRequest, id: str) -> ChecksOut:
    """What has been found so far, node by node and check by check."""
    return table(carry_on(id))


def _job(number: int) -> Job:
    job = Job.objects.filter(pk=number).first() if number < 1 << 63 else None
    if job is None:
        raise not_found(f"There is no job {number}.")
    return job

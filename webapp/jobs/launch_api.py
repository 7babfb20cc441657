"""Before a launch, over HTTP: where a job would run, and what stands in its way there."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router, Status

from webapp.accounts.auth import account_of
from webapp.errors import ERRORS

from .check_schemas import ChecksBegun, ChecksIn, ChecksOut
from .check_table import table
from .checks import begin, carry_on
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


@router.get("/checks/{id}", response={200: ChecksOut, **ERRORS})
def look_at_checks(request: HttpRequest, id: str) -> ChecksOut:
    """What has been found so far, node by node and check by check."""
    return table(carry_on(id))

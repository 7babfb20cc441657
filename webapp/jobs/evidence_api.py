"""Evidence over HTTP: what is kept of rounds that failed, and all of it of one round as a file."""

from __future__ import annotations

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.text import slugify
from ninja import Router

from webapp.errors import ERRORS, not_found
from webapp.pieces import pieces_of

from .evidence import evidence_out
from .evidence_bundle import evidence_zip
from .evidence_schemas import EvidenceOut
from .models import Job

router = Router(tags=["jobs"])

ZIP = {"responses": {200: {"description": "OK", "content": {"application/zip": {}}}}}


def _job(job_id: int) -> Job:
    job = Job.objects.filter(pk=job_id).first() if job_id < 1 << 63 else None
    if job is None:
        raise not_found(f"There is no job {job_id}.")
    return job


@router.get("/jobs/{id}/evidence", response={200: EvidenceOut, **ERRORS})
def list_evidence(request: HttpRequest, id: int) -> EvidenceOut:
    """The rounds of a job that failed: why, what its nodes keep of each, and what its own commands said."""
    return evidence_out(_job(id))


@router.get("/jobs/{id}/evidence/{round}", response=ERRORS, openapi_extra=ZIP)
def download_evidence(
    request: HttpRequest, id: int, round: int, attempt: int | None = None
) -> StreamingHttpResponse:
    """All that is kept of a round as one zip, with a page that opens without a server.

    It is fetched from the nodes now. One that does not answer is named in it. ``attempt``: the newest.
    """
    job = _job(id)
    file = evidence_zip(job, attempt, round)
    response = StreamingHttpResponse(pieces_of(file), content_type="application/zip")
    name = f"{slugify(job.name) or 'job'}-{job.id}-round-{round}.zip"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Content-Length"] = str(file.seek(0, 2))
    file.seek(0)
    return response

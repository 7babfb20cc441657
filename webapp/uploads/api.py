"""Uploaded code over HTTP: sent by people, listed, and fetched by nodes."""

from __future__ import annotations

from django.http import HttpRequest, StreamingHttpResponse
from ninja import File, Form, Router, Status
from ninja.files import UploadedFile

from webapp.accounts.auth import BY_ROLE, account_of
from webapp.errors import ERRORS, not_found
from webapp.pieces import pieces_of

from .receiving import receive, upload_out
from .schemas import UploadOut, UploadPage, UploadSummary
from .store import Upload, find, list_uploads, path_of
from .tickets import TicketAuth

router = Router(tags=["uploads"])

ZIP = {"responses": {200: {"description": "OK", "content": {"application/zip": {}}}}}
MOST = 200


@router.post("/uploads", response={201: UploadOut, **ERRORS})
def upload_code(
    request: HttpRequest, files: File[list[UploadedFile]], paths: Form[str] = "", name: Form[str] = ""
) -> Status[UploadOut]:
    """Keep code that jobs name by its digest in ``code``: one script, one zip, or the files of a folder.

    ``paths``: of a folder, a JSON list with each file's path in it, in the order of ``files``.
    """
    return Status(201, receive(account_of(request), files, paths, name))


@router.get("/uploads", response={200: UploadPage, **ERRORS})
def list_code(request: HttpRequest) -> UploadPage:
    """The newest of what was uploaded."""
    return UploadPage(items=[_summary(upload) for upload in list_uploads()[:MOST]])


@router.get("/uploads/{digest}", response={200: UploadOut, **ERRORS})
def look_at_code(request: HttpRequest, digest: str) -> UploadOut:
    """One upload, with its files."""
    return upload_out(_find(digest))


@router.get("/uploads/{digest}/content", response=ERRORS, openapi_extra=ZIP, auth=[TicketAuth(), *BY_ROLE])
def fetch_code(request: HttpRequest, digest: str) -> StreamingHttpResponse:
    """The zip with that digest. Nodes show the ticket that came with their start message."""
    upload = _find(digest)
    file = path_of(upload.digest).open("rb")  # closed by whoever reads it
    response = StreamingHttpResponse(pieces_of(file), content_type="application/zip")
    response["Content-Length"] = str(upload.size_bytes)
    response["Content-Disposition"] = f'attachment; filename="{upload.digest[:12]}.zip"'
    return response


def _find(digest: str) -> Upload:
    upload = find(digest)
    if upload is None:
        raise not_found(f"There is no upload with the digest {digest[:80]}.")
    return upload


def _summary(upload: Upload) -> UploadSummary:
    return UploadSummary(**upload.dict(exclude={"files"}), file_count=len(upload.files))

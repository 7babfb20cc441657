"""Uploaded code over HTTP: sent by people, listed, and fetched by nodes."""

from __future__ import annotations

from django.http import HttpRequest, StreamingHttpResponse
from ninja import File, Form, Router, Status
from ninja.files import UploadedFile

from webapp.accounts.auth import BY_ROLE, account_of
from webapp.errors import ERRORS, not_found
from webapp.pieces import pieces_of

from .asked import say_missing
from .receiving import receive, upload_item, upload_out
from .removing import jobs_by_code, remove
from .schemas import UploadOut, UploadPage
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
def list_code(request: HttpRequest, mine: bool = False) -> UploadPage:
    """The newest of what was uploaded. ``mine``: by who asks."""
    name = account_of(request).username
    found = [upload for upload in list_uploads() if not mine or upload.uploaded_by == name][:MOST]
    used = jobs_by_code()
    return UploadPage(items=[upload_item(upload, used.get(upload.digest, [])) for upload in found])


@router.get("/uploads/{digest}", response={200: UploadOut, **ERRORS})
def look_at_code(request: HttpRequest, digest: str) -> UploadOut:
    """One upload, with its files."""
    return upload_out(_find(digest))


@router.delete("/uploads/{digest}", response={204: None, **ERRORS})
def remove_code(request: HttpRequest, digest: str) -> Status[None]:
    """Remove an upload. Refused while a job that is not over uses it; other jobs cannot be launched again."""
    remove(account_of(request), _find(digest))
    return Status(204, None)


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
        raise not_found(say_missing(digest))
    return upload

"""The page itself: one file for every address that is not the API's, and the files that it loads."""

from __future__ import annotations

import mimetypes
import re
from pathlib import Path

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

NOT_BUILT = "The page has not been built yet. Run make run, which builds it, or npm run build in frontend/.\n"


def read_build(folder: Path) -> str | None:
    """Which page is built there, by the names of its files, which carry a hash. None: none is.

    An open page knows its own files and compares.
    """
    try:
        text = (folder / "index.html").read_text()
    except OSError:
        return None
    return " ".join(sorted(re.findall(r"/assets/([\w.-]+)", text)))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Mostly a host name that nobody has allowed: say so instead of only 400."""
    text = "The request makes no sense to Regroup.\n"
    if isinstance(exception, DisallowedHost):
        text = "Regroup does not answer under this host name. Add it to REGROUP_ALLOWED_HOSTS.\n"
    return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Never cached, so that a new version of the page is seen at the next visit."""
    try:
        content = (settings.FRONTEND / "index.html").read_bytes()
    except FileNotFoundError:
        return HttpResponse(NOT_BUILT, status=503, content_type="text/plain; charset=utf-8")
    response = HttpResponse(content)
    response["Cache-Control"] = "no-cache"
    return response


@require_safe
def asset(request: HttpRequest, name: str) -> FileResponse:
    """A file of a page that was built after this process had started; all others are answered before."""
    try:
        content = (settings.FRONTEND / "assets" / name).open("rb")
    except OSError as error:
        raise Http404 from error
    response = FileResponse(content, content_type=mimetypes.guess_type(name)[0])
    # The name holds a hash of the content.
    response["Cache-Control"] = "max-age=315360000, public, immutable"
    return response

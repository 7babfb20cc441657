"""The page itself: one file for every address that is not the API's."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

NOT_BUILT = "The page has not been built yet. Run make run, which builds it, or npm run build in frontend/.\n"


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

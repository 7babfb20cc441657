"""The page itself: one file for every address that is not the API's."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

NOT_BUILT = "The page has not been built yet. Run make run, which builds it, or npm run build in frontend/.\n"


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

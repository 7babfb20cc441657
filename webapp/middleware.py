"""What every answer gets: a content policy, and for the API one form of error whoever refused."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse

from .errors import Problem, answer_for, problem_of_status

log = logging.getLogger("regroup.web")

Handler = Callable[[HttpRequest], HttpResponse]

CONTENT_POLICY = "; ".join(
    [
        "default-src 'self'",
        # The component library writes style attributes.
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)


class ContentPolicy:
    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.setdefault("Content-Security-Policy", CONTENT_POLICY)
        response.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        return response


class ApiErrors:
    """Under ``/api/`` what Django itself refuses is said in the API's own form too."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path.startswith("/api/"):
            return response
        response.setdefault("Cache-Control", "no-store")
        if response.status_code < 400 or response.headers.get("Content-Type", "").startswith(
            "application/json"
        ):
            return response
        return _as_json(problem_of_status(response.status_code, request.method or "", request.path), response)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not request.path.startswith("/api/"):
            return None
        return _as_json(answer_for(error, f"{request.method} {request.path}"))


def _as_json(problem: Problem, replaced: HttpResponse | None = None) -> HttpResponse:
    answer = JsonResponse(problem.answer().dict(), status=problem.status)
    if replaced is not None and "Allow" in replaced:
        answer["Allow"] = replaced["Allow"]
    return answer

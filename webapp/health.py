"""Does the hub work? One word for load balancers, details for people who are logged in."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from ninja import Router, Schema

from .errors import ERRORS
from .redis import find_problem

router = Router(tags=["health"])


class Part(Schema):
    ok: bool
    says: str


class Health(Schema):
    ok: bool
    database: Part
    redis: Part


def _look(name: str, question: Any, error: type[Exception]) -> Part:
    try:
        question()
    except error as problem:
        return Part(ok=False, says=f"{name} does not answer: {problem}")
    return Part(ok=True, says=f"{name} answers.")


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def look() -> Health:
    """Ask every part once; 2 s at most for Redis."""
    database = _look("The database", _ask_database, DatabaseError)
    problem = find_problem()
    bus = Part(ok=problem is None, says=problem or "Redis answers.")
    return Health(ok=database.ok and bus.ok, database=database, redis=bus)


@router.get("/health", response={200: Health, **ERRORS})
def health(request: HttpRequest) -> Health:
    """Each part of the hub and whether it answers."""
    return look()


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 ``ok`` or 503 ``not ok``, and nothing else, for whoever asks."""
    ok = look().ok
    return HttpResponse("ok\n" if ok else "not ok\n", status=200 if ok else 503, content_type="text/plain")

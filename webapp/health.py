"""Does the hub work? One word for load balancers, details for people who are logged in."""

from __future__ import annotations

import shutil
from typing import Any

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from ninja import Router, Schema

from agents.wire import streams

from .accounts.models import Account
from .errors import ERRORS
from .redis import age_of, find_problem
from .sealing import find_trouble

router = Router(tags=["health"])

LEAST_FREE = 16 << 20
"""Bytes on the disk of the data folder."""
STILL_S = 10.0
"""A part that turns every second and has not done so for that long stands still."""


class Part(Schema):
    ok: bool
    says: str


class Health(Schema):
    ok: bool
    """All parts are well."""
    database: Part
    redis: Part
    ingest: Part
    celery: Part
    disk: Part
    secrets: Part


def _look(name: str, question: Any, error: type[Exception]) -> Part:
    try:
        question()
    except error as problem:
        return Part(ok=False, says=f"{name} does not answer: {problem}")
    return Part(ok=True, says=f"{name} answers.")


def _ask_database() -> None:
    """A real look: SQLite answers a question without a table even when its file cannot be read."""
    Account.objects.exists()


def look() -> Health:
    """Ask every part once; 2 s at most for Redis."""
    database = _look("The database", _ask_database, DatabaseError)
    problem = find_problem()
    bus = Part(ok=problem is None, says=problem or "Redis answers.")
    ingest = _moves("Ingest", streams.INGEST, "what nodes report is not taken in, and pages show old news")
    celery = _moves("Celery", streams.CELERY, "no job is placed; running ones are watched as ever")
    parts = {"database": database, "redis": bus, "ingest": ingest, "celery": celery}
    parts |= {"disk": _disk(), "secrets": _secrets()}
    return Health(ok=all(part.ok for part in parts.values()), **parts)


def _disk() -> Part:
    """Of the data folder of this process."""
    free = shutil.disk_usage(settings.DATA).free
    if free >= LEAST_FREE:
        return Part(ok=True, says=f"{free >> 20} MiB are free on the disk of {settings.DATA}.")
    return Part(
        ok=False, says=f"The disk of {settings.DATA} is full: {free >> 20} MiB are free. Make room there."
    )


def _secrets() -> Part:
    if trouble := find_trouble():
        return Part(ok=False, says=f"Secret variables of jobs can be neither sealed nor opened. {trouble}")
    return Part(ok=True, says="Secret variables of jobs can be sealed and opened.")


def _moves(name: str, key: str, what_follows: str) -> Part:
    """By its sign of life in Redis."""
    try:
        age_s = age_of(key)
    except redis.RedisError:
        return Part(ok=False, says=f"Whether {name} is at work is not known, as Redis does not answer.")
    if age_s is not None and age_s < STILL_S:
        return Part(ok=True, says=f"{name} has done a turn {age_s:.1f} s ago.")
    since = f"for {age_s:.0f} s" if age_s is not None else f"for more than {streams.INGEST_S} s"
    return Part(ok=False, says=f"{name} has done nothing {since}: {what_follows}. See its log.")


@router.get("/health", response={200: Health, **ERRORS})
def health(request: HttpRequest) -> Health:
    """Each part of the hub and whether it answers."""
    return look()


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 ``ok`` or 503 ``not ok``, and nothing else: can this web process answer at all?"""
    health = look()
    ok = health.database.ok and health.redis.ok
    return HttpResponse("ok\n" if ok else "not ok\n", status=200 if ok else 503, content_type="text/plain")

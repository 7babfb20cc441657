"""Logging in with a password, slowed down for whoever guesses."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from django.contrib.auth import authenticate, login, update_session_auth_hash
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone

from webapp.errors import Problem, refuse_field
from webapp.schemas import Fault

from .models import Account, FailedLogIn

FAILURES_ALLOWED = 5
WITHIN = timedelta(minutes=1)


def log_in(request: HttpRequest, username: str, password: str) -> Account:
    """Open a session.

    Raises:
        Problem: 401 for a wrong name or password, 429 after five of them within a minute, 403 when another
            site's page asks.
    """
    _refuse_other_sites(request)
    address = str(request.META.get("REMOTE_ADDR") or "")
    _refuse_guessing(username, address)
    account = authenticate(request, username=username, password=password)
    if not isinstance(account, Account):
        FailedLogIn.objects.create(username=username[:150], address=address[:64], at=timezone.now())
        raise Problem(
            401,
            "wrong_password",
            "There is no account with that name and password.",
            where="password",
            what_to_do="Try again, or set a new password with manage.py make_user NAME.",
        )
    FailedLogIn.objects.filter(username=username, address=address).delete()
    login(request, account)
    return account


def _refuse_other_sites(request: HttpRequest) -> None:
    """Another site must not log a browser in under an account of its choice."""
    origin = request.headers.get("Origin")
    if origin is None or urlsplit(origin).netloc == request.get_host():
        return
    raise Problem(
        403,
        "other_origin",
        f"A page of {origin} may not log in here.",
        where="Origin",
        what_to_do="Log in on Regroup's own page.",
    )


def _refuse_guessing(username: str, address: str) -> None:
    since = timezone.now() - WITHIN
    FailedLogIn.objects.filter(at__lt=since).delete()
    failed = FailedLogIn.objects.filter(username=username[:150], address=address[:64], at__gte=since).count()
    if failed >= FAILURES_ALLOWED:
        raise Problem(
            429,
            "too_many_failures",
            f"{failed} log-ins as {username} have failed within a minute, so that no more are tried for now.",
            where="username",
            what_to_do="Wait a minute and try again.",
        )


def change_password(request: HttpRequest, account: Account, current: str, new: str) -> None:
    """Set a new password; this session stays open, all others of the account end.

    Raises:
        Problem: 422 when the current one is wrong or the new one too weak.
    """
    if not account.check_password(current):
        raise refuse_field(
            "current", "This is not the current password.", "Write the one you logged in with."
        )
    try:
        validate_password(new, account)
    except ValidationError as error:
        faults = tuple(Fault(where="new", message=message) for message in error.messages)
        raise Problem(422, "invalid", " ".join(error.messages), where="new", faults=faults) from error
    account.set_password(new)
    account.save(update_fields=["password"])
    update_session_auth_hash(request, account)

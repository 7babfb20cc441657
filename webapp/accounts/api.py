"""Log in, log out, who am I."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from ninja import Router

from webapp.errors import Problem
from webapp.schemas import ErrorAnswer

from .auth import ANYBODY_KNOWN, account_of
from .models import Account
from .schemas import LogIn, Me, NewPassword, RoleWord
from .sessions import change_password, log_in

router = Router(tags=["session"])
ERRORS: dict[int, Any] = {401: ErrorAnswer, 403: ErrorAnswer, 422: ErrorAnswer, 429: ErrorAnswer}


def _me(account: Account) -> Me:
    return Me(name=account.username, role=cast(RoleWord, account.role))


@router.get("/session", response={200: Me, 401: ErrorAnswer}, auth=None)
def who_am_i(request: HttpRequest) -> Me:
    """The account that asks; 401 when nobody is logged in. Also sets the cookie with the CSRF token."""
    get_token(request)
    for found in (auth(request) for auth in ANYBODY_KNOWN):
        if isinstance(found, Account):
            return _me(found)
    raise Problem(401, "not_authenticated", "Nobody is logged in.", where="Cookie", what_to_do="Log in.")


@router.post("/session", response={200: Me, **ERRORS}, auth=None)
def open_session(request: HttpRequest, data: LogIn) -> Me:
    """Log in. Sets the session's cookie."""
    account = log_in(request, data.username, data.password)
    get_token(request)
    return _me(account)


@router.delete("/session", response={204: None, 401: ErrorAnswer, 403: ErrorAnswer}, auth=ANYBODY_KNOWN)
def close_session(request: HttpRequest) -> HttpResponse:
    """Log out."""
    logout(request)
    return HttpResponse(status=204)


@router.post("/session/password", response={204: None, **ERRORS}, auth=ANYBODY_KNOWN)
def set_password(request: HttpRequest, data: NewPassword) -> HttpResponse:
    """Change one's own password."""
    change_password(request, account_of(request), data.current, data.new)
    return HttpResponse(status=204)

"""Who asks, and whether they may. The rule for every endpoint that does not say otherwise: looking needs
a viewer or an operator, changing needs an operator."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from ninja.security import APIKeyCookie, HttpBearer

from webapp.errors import Problem, not_authenticated

from .models import Account
from .tokens import find_account

LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})


def require_role(account: Account, method: str) -> None:
    """Raises a 403 ``Problem`` when a viewer wants to change something."""
    if method in LOOKING or account.may_operate:
        return
    raise Problem(
        403,
        "not_an_operator",
        f"{account.username} is a viewer, and this needs an operator.",
        where="account",
        what_to_do="Ask an operator to do it, or to make you one: manage.py make_user NAME --role operator.",
    )


class SessionAuth(APIKeyCookie):
    """The page's cookie. A change also needs the page's CSRF token in ``X-CSRFToken``."""

    param_name = settings.SESSION_COOKIE_NAME

    def __init__(self, by_role: bool = True) -> None:
        super().__init__(csrf=True)
        self.by_role = by_role

    def _get_key(self, request: HttpRequest) -> str | None:
        # Without a cookie there is nothing that another site could abuse, and 401 is the better answer.
        if self.param_name not in request.COOKIES:
            return None
        return super()._get_key(request)

    def authenticate(self, request: HttpRequest, key: str | None) -> Account | None:
        account = request.user
        if key is None or not isinstance(account, Account):
            return None
        if self.by_role:
            require_role(account, request.method or "")
        return account


class TokenAuth(HttpBearer):
    """``Authorization: Bearer rg_…``, for scripts."""

    def __init__(self, by_role: bool = True) -> None:
        super().__init__()
        self.by_role = by_role

    def authenticate(self, request: HttpRequest, token: str) -> Account | None:
        account = find_account(token.strip())
        if account is not None and self.by_role:
            require_role(account, request.method or "")
        return account


BY_ROLE = [TokenAuth(), SessionAuth()]
ANYBODY_KNOWN = [TokenAuth(by_role=False), SessionAuth(by_role=False)]
"""For what an account does to itself, such as logging out."""


def known_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """For pages about the API itself: whoever may look at anything may look at these."""

    @require_safe
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if any(known(request) for known in ANYBODY_KNOWN):
            return view(request, *args, **kwargs)
        problem = not_authenticated()
        return JsonResponse(problem.answer().dict(), status=problem.status)

    return answer


def account_of(request: HttpRequest) -> Account:
    """The account behind an authenticated request."""
    account = getattr(request, "auth", None)
    if not isinstance(account, Account):
        raise TypeError("this endpoint is reached without authentication")
    return account

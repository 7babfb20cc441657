"""Who opens a socket: a script by its bearer token, or a page by its cookie and its origin.

Who it is is asked again while the socket is open: a session that is over, or an account that was closed,
must not go on watching.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast
from urllib.parse import urlsplit

from channels.db import database_sync_to_async
from channels.security.websocket import WebsocketDenier
from channels.sessions import SessionMiddlewareStack
from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

from .models import Account
from .tokens import find_account


def _header(scope: Any, wanted: bytes) -> str | None:
    for name, value in scope.get("headers", ()):
        if name.lower() == wanted:
            return str(value.decode("latin-1")).strip()
    return None


def _bearer(scope: Any) -> str | None:
    value = _header(scope, b"authorization") or ""
    return value[7:].strip() if value[:7].lower() == "bearer " else None


def _is_own_page(scope: Any) -> bool:
    """Cookies go to all ports of a host, so that the port of the page that asks has to be ours too."""
    host, origin = _header(scope, b"host") or "", _header(scope, b"origin") or ""
    name, _ = split_domain_port(host)
    return validate_host(name, settings.ALLOWED_HOSTS) and urlsplit(origin).netloc.lower() == host.lower()


class SocketAuth:
    """A browser cannot set the header, so that only cookies need the look at the origin."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.for_pages: Any = SessionMiddlewareStack(inner)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        if _bearer(scope) is not None:
            return await self.inner(scope, receive, send)
        if _is_own_page(scope):
            return await self.for_pages(scope, receive, send)
        return await cast(Any, WebsocketDenier())(scope, receive, send)


@database_sync_to_async
def account_now(scope: Any) -> Account | None:
    """Whose socket it is by the rows as they are now. None: nobody's, or no longer anybody's."""
    token = _bearer(scope)
    return find_account(token) if token is not None else _account_of_session(scope["session"].session_key)


def _account_of_session(key: str | None) -> Account | None:
    """Read anew: a log-out elsewhere, a new password and a closed account all end a session."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    account = get_user(request)
    return account if isinstance(account, Account) else None

"""Who opens a socket: a script by its bearer token, or a page by its cookie and its origin.

The account, or Django's anonymous user, is in ``scope["user"]``.
"""

from __future__ import annotations

from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async
from channels.security.websocket import AllowedHostsOriginValidator
from django.contrib.auth.models import AnonymousUser

from .tokens import find_account


def _bearer(scope: Any) -> str | None:
    for name, value in scope.get("headers", ()):
        if name.lower() == b"authorization" and value[:7].lower() == b"bearer ":
            return str(value[7:].decode("latin-1")).strip()
    return None


class SocketAuth:
    """A browser cannot set the header, so that only cookies need the look at the origin."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.for_pages = AllowedHostsOriginValidator(AuthMiddlewareStack(inner))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        token = _bearer(scope)
        if token is None:
            return await self.for_pages(scope, receive, send)
        account = await database_sync_to_async(find_account)(token)
        return await self.inner({**scope, "user": account or AnonymousUser()}, receive, send)

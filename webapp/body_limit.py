"""No request fills the hub's memory or disk, whoever sends it.

Django keeps a request's body as a whole before anybody looks who sent it. What is larger than its address
takes is therefore counted while it comes, read on for a while so that the sender hears why, and refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIHandler

from agents.wire.code import MOST_BYTES

from .errors import Problem

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MIB = 1 << 20
UPLOADS = "/api/uploads"
AROUND_FILES = 8 * MIB
"""What an upload has beside its files: their names and paths."""
READ_ON = 2 * MOST_BYTES
"""So much is read and thrown away; most senders do not listen before they have sent all."""


class TooLarge(Exception):
    """More is coming than the address takes."""


def most_bytes(path: str) -> int:
    return MOST_BYTES + AROUND_FILES if path == UPLOADS else int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


class BodyLimit:
    """In front of Django."""

    def __init__(self, app: ASGIHandler) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        body = _Body(receive, most_bytes(scope["path"]))
        try:
            body.require_fit(_announced(scope))
            await self._app(scope, body.receive, send)
        except TooLarge:
            await body.read_on()
            await _refuse(scope["path"], send)


class _Body:
    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._most = receive, most
        self._came, self._is_over = 0, False

    def require_fit(self, size: int) -> None:
        """Raises:
        TooLarge: it does not fit.
        """
        if size > self._most:
            raise TooLarge

    async def receive(self) -> Message:
        message = await self._take()
        self.require_fit(self._came)
        return message

    async def read_on(self) -> None:
        while not self._is_over and self._came < READ_ON:
            await self._take()

    async def _take(self) -> Message:
        message = await self._receive()
        self._came += len(message.get("body", b""))
        self._is_over = not message.get("more_body", False)
        return message


def _announced(scope: Message) -> int:
    """The length that the request says it has; 0 where it does not say."""
    return int(dict(scope["headers"]).get(b"content-length", 0))


async def _refuse(path: str, send: Send) -> None:
    most = MOST_BYTES if path == UPLOADS else most_bytes(path)
    problem = Problem(
        413,
        "too_large",
        f"What was sent is larger than {path} takes: {most / MIB:.3g} MiB are the most.",
        where="body",
        what_to_do="Send less. Data and checkpoints belong where all nodes can read them.",
    )
    body = problem.answer().model_dump_json().encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # else the server reads on until the sender ends
    ]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

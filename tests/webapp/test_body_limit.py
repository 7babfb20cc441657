"""What is sent to the hub is refused once it is larger than its address takes, whoever sends it."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from agents.wire.code import MOST_BYTES
from tests.webapp.processes import Hub
from webapp.body_limit import MIB, READ_ON

pytestmark = pytest.mark.django_db(transaction=True)


class Sender:
    """Sends so many MiB in pieces, with or without a length."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        self.sent = 0

    def _pieces(self, mib: int) -> Iterator[bytes]:
        for _ in range(mib):
            yield b" " * MIB
            self.sent += MIB

    def post(self, path: str, mib: int, *, has_length: bool) -> tuple[int, Any]:
        headers = {"Content-Type": "application/json"}
        if has_length:
            headers["Content-Length"] = str(mib * MIB)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._connection.request(
                "POST", path, body=self._pieces(mib), headers=headers, encode_chunked=not has_length
            )
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())


def test_who_is_nobody_cannot_fill_the_hub(hub: Hub) -> None:
    with hub.web() as url:
        for path, mib, most in (
            ("/api/session", 3, "2.5"),
            ("/api/jobs", 40, "2.5"),
            ("/api/uploads", 80, "64"),
        ):
            for has_length in (True, False):
                status, problem = Sender(url).post(path, mib, has_length=has_length)
                assert (status, problem["reason"]) == (413, "too_large")
                assert f"larger than {path} takes: {most} MiB" in problem["what"]
        status, problem = Sender(url).post("/api/jobs", 1, has_length=True)
        assert (status, problem["reason"]) == (401, "not_authenticated")
        # A body without an end is not read for ever either.
        endless = Sender(url)
        with contextlib.suppress(OSError, http.client.HTTPException):
            endless.post("/api/session", 20 * MOST_BYTES // MIB, has_length=False)
        assert endless.sent < READ_ON + 64 * MIB

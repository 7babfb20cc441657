"""The public door: the HTTP API as a script uses it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.test import Client


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    headers: Any


class Api:
    """Speaks JSON, with a bearer token where one is given. Errors of the server are answers too."""

    def __init__(self, token: str | None = None, client: Client | None = None) -> None:
        self.client = client or Client(raise_request_exception=False)
        self.headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        response = self.client.generic(
            method, path, data, content_type="application/json", headers={**self.headers, **headers}
        )
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        return Answer(
            response.status_code, response.json() if is_json else response.content, response.headers
        )

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, body: Any = None) -> Answer:
        return self.ask("POST", path, body)

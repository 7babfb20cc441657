"""The hub's API over HTTP. Whatever goes wrong comes out as one ``Refusal`` with the exit code that fits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Self

import httpx

from .config import Door
from .refusals import ExitCode, Refusal, Unreachable

Json = dict[str, Any]

TIMEOUT_S, UPLOAD_TIMEOUT_S = 20.0, 120.0
_CODES = {
    400: ExitCode.USAGE,
    401: ExitCode.NOT_ALLOWED,
    403: ExitCode.NOT_ALLOWED,
    404: ExitCode.NOT_FOUND,
    409: ExitCode.REFUSED,
    422: ExitCode.USAGE,
}


class Hub:
    """May be used by several threads at once. ``transport``: another way than the network."""

    def __init__(
        self, door: Door, timeout_s: float = TIMEOUT_S, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.url = door.url
        self._client = httpx.Client(
            base_url=door.url,
            headers={"Authorization": f"Bearer {door.token}", "Accept": "application/json"},
            timeout=timeout_s,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def page_of(self, job: int) -> str:
        """Where a browser shows that job."""
        return f"{self.url}/jobs/{job}"

    def get(self, path: str, **params: str | int | bool | list[str] | None) -> Json:
        given = {name: value for name, value in params.items() if value is not None}
        return self._ask("GET", path, params=given)

    def post(self, path: str, body: Json) -> Json:
        return self._ask("POST", path, json=body)

    def upload(self, files: Sequence[tuple[str, bytes]], name: str) -> Json:
        """Each file with its path in the folder of the code."""
        form = {"name": name, "paths": json.dumps([path for path, _ in files])}
        parts = [("files", (path.rpartition("/")[2], content)) for path, content in files]
        return self._ask("POST", "/uploads", data=form, files=parts, timeout=UPLOAD_TIMEOUT_S)

    def _ask(self, method: str, path: str, **how: Any) -> Json:
        try:
            response = self._client.request(method, f"/api{path}", **how)
        except httpx.TransportError as error:
            why = str(error) or type(error).__name__
            raise Unreachable(
                f"The hub at {self.url} does not answer ({why}). Look whether it runs and can be reached "
                "from here; training goes on without it."
            ) from error
        return self._read(response)

    def _read(self, response: httpx.Response) -> Json:
        if response.is_redirect:
            raise Refusal(
                f"The hub at {self.url} answers that it has moved to {response.headers.get('Location')}. "
                "Use that address, as the token is sent to no other than was named.",
                ExitCode.USAGE,
            )
        body = _json_of(response)
        if response.is_success and body is not None:
            return body
        raise self._refusal(response.status_code, body)

    def _refusal(self, status: int, body: Json | None) -> Refusal:
        if status in (502, 503, 504):
            return Unreachable(_sentence(body) or f"The hub at {self.url} answers with status {status} only.")
        if body is None or not _sentence(body):
            code = ExitCode.NOT_FOUND if status == 404 else ExitCode.FAILED
            return Refusal(
                f"What answers at {self.url} (status {status}) is not Regroup's API, or not of this version. "
                "Look at the address.",
                code,
            )
        return Refusal(_sentence(body), _CODES.get(status, ExitCode.FAILED))


def _json_of(response: httpx.Response) -> Json | None:
    try:
        body = response.json()
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _sentence(body: Json | None) -> str:
    """What the hub says of an error: what is wrong, every other fault, and what to do."""
    if body is None or not isinstance(body.get("what"), str):
        return ""
    faults = body.get("faults") or []
    others = [f"{fault['where']}: {fault['message']}" for fault in faults[1:]]
    return " ".join(part for part in (body["what"], *others, body.get("what_to_do", "")) if part)

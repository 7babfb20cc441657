"""Each endpoint, asked by everybody. A new endpoint is in this table by itself, and refuses strangers."""

from __future__ import annotations

import json

import pytest

from tests.webapp.api_client import Api
from webapp.api import api

OPEN = {("GET", "/api/session"), ("POST", "/api/session")}
"""What a stranger may ask: who am I, and let me in."""
OWN = {("DELETE", "/api/session"), ("POST", "/api/session/password")}
"""What every account may do to itself."""


def _endpoints() -> list[tuple[str, str]]:
    schema = json.loads(json.dumps(api.get_openapi_schema()))
    return sorted((m.upper(), path) for path, methods in schema["paths"].items() for m in methods)


ENDPOINTS = _endpoints()


def ask(who: Api, method: str, path: str) -> int:
    body: dict[str, str] | None = None if method == "GET" else {}
    return who.ask(method, path.replace("{id}", "1"), body).status


@pytest.mark.parametrize(("method", "path"), [e for e in ENDPOINTS if e not in OPEN])
def test_a_stranger_is_refused(nobody: Api, method: str, path: str) -> None:
    assert ask(nobody, method, path) == 401


@pytest.mark.parametrize(("method", "path"), [e for e in ENDPOINTS if e not in OPEN | OWN and e[0] != "GET"])
def test_a_viewer_changes_nothing(viewer: Api, method: str, path: str) -> None:
    assert ask(viewer, method, path) == 403


@pytest.mark.parametrize(("method", "path"), [e for e in ENDPOINTS if e[0] == "GET" or e in OPEN | OWN])
def test_a_viewer_may_look_and_keep_its_own_account(viewer: Api, method: str, path: str) -> None:
    assert ask(viewer, method, path) not in (401, 403, 500) or path == "/api/session"


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_an_operator_is_refused_nothing(operator: Api, method: str, path: str) -> None:
    assert ask(operator, method, path) not in (401, 403, 500) or (method, path) == ("POST", "/api/session")


@pytest.mark.parametrize("path", ["/api/openapi.json", "/api/docs"])
def test_the_description_of_the_api_is_for_accounts_alone(nobody: Api, viewer: Api, path: str) -> None:
    refused = nobody.get(path)
    assert (refused.status, refused.body["reason"]) == (401, "not_authenticated")
    assert viewer.ask("GET", path).status == 200


def test_the_refusal_of_a_viewer_says_who_may(viewer: Api) -> None:
    answer = viewer.post("/api/jobs", {"script": "/data/train.py"})
    assert answer.body["reason"] == "not_an_operator"
    assert "vera is a viewer" in answer.body["what"]
    assert "make_user" in answer.body["what_to_do"]

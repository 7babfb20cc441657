"""Who may ask what: one table of every address of the hub. What is not in the table fails here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from channels.db import database_sync_to_async
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.webapp.api_client import Answer, Api
from tests.webapp.test_live import Page, browser_of, connected
from webapp.accounts.models import Account
from webapp.accounts.tokens import make_token
from webapp.api import api
from webapp.asgi import sockets

ANYBODY, ACCOUNTS, OPERATORS = "anybody", "accounts", "operators"

WHO_MAY = {
    ("GET", "/api/commands/{id}"): ACCOUNTS,
    ("GET", "/api/example"): ACCOUNTS,
    ("GET", "/api/health"): ACCOUNTS,
    ("GET", "/api/jobs"): ACCOUNTS,
    ("POST", "/api/jobs"): OPERATORS,
    ("POST", "/api/jobs/preview"): OPERATORS,
    ("POST", "/api/jobs/checks"): OPERATORS,
    ("GET", "/api/checks/{id}"): ACCOUNTS,
    ("GET", "/api/jobs/{id}"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/commands"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/events"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/evidence"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/evidence/{round}"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/timeline/ranks"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/progress"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/metrics"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/attempts/{attempt}/rounds/{number}/waterfall"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/faults"): ACCOUNTS,
    ("POST", "/api/jobs/{id}/faults"): OPERATORS,
    ("GET", "/api/faults"): ACCOUNTS,
    ("POST", "/api/faults/stop-all"): OPERATORS,
    ("GET", "/api/jobs/{id}/logs"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/logs/download"): ACCOUNTS,
    ("POST", "/api/jobs/{id}/scale"): OPERATORS,
    ("POST", "/api/jobs/{id}/stop"): OPERATORS,
    ("POST", "/api/jobs/{id}/archive"): OPERATORS,
    ("POST", "/api/jobs/{id}/unarchive"): OPERATORS,
    ("GET", "/api/jobs/{id}/check"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/checks"): ACCOUNTS,
    ("POST", "/api/jobs/{id}/checks"): OPERATORS,
    ("GET", "/api/jobs/{id}/torchrun"): ACCOUNTS,
    ("POST", "/api/jobs/check"): OPERATORS,
    ("POST", "/api/jobs/stop"): OPERATORS,
    ("POST", "/api/torchrun/parse"): OPERATORS,
    ("POST", "/api/torchrun/write"): OPERATORS,
    ("GET", "/api/jobs/{id}/workers/usage"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/stacks"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/stalls"): ACCOUNTS,
    ("GET", "/api/jobs/{id}/timeline"): ACCOUNTS,
    ("GET", "/api/nodes"): ACCOUNTS,
    ("GET", "/api/nodes/{name}/drain"): ACCOUNTS,
    ("POST", "/api/nodes/{name}/drain"): OPERATORS,
    ("POST", "/api/nodes/{name}/undrain"): OPERATORS,
    ("GET", "/api/uploads"): ACCOUNTS,
    ("POST", "/api/uploads"): OPERATORS,
    ("GET", "/api/uploads/{digest}"): ACCOUNTS,
    ("DELETE", "/api/uploads/{digest}"): OPERATORS,
    ("GET", "/api/uploads/{digest}/content"): ACCOUNTS,
    ("GET", "/api/session"): ACCOUNTS,
    ("POST", "/api/session"): ANYBODY,
    ("DELETE", "/api/session"): ACCOUNTS,
    ("POST", "/api/session/password"): ACCOUNTS,
    ("GET", "/api/openapi.json"): ACCOUNTS,
    ("GET", "/api/docs"): ACCOUNTS,
    ("GET", "/api/"): ANYBODY,
    ("GET", "/healthz"): ANYBODY,
    ("GET", "/assets/{name}"): ANYBODY,
    ("GET", "/{page}"): ANYBODY,
    ("SOCKET", "/ws/live"): ACCOUNTS,
}
HTTP = [(method, path, who) for (method, path), who in WHO_MAY.items() if method != "SOCKET"]


def _described() -> set[tuple[str, str]]:
    schema = json.loads(json.dumps(api.get_openapi_schema()))
    return {(m.upper(), path) for path, methods in schema["paths"].items() for m in methods}


def _routes(patterns: list[URLPattern | URLResolver], before: str = "/") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        else:
            yield _readable(route)


def _readable(route: str) -> str:
    if "(?!" in route:
        return "/{page}"
    named = re.sub(r"\(\?P<(\w+)>.*\)\$", r"{\1}", route.replace("/^", "/"))
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", named)


def test_every_endpoint_that_is_described_is_in_the_table_and_no_other() -> None:
    addresses = {path for _, path in _described()}
    assert {rule for rule in WHO_MAY if rule[1] in addresses} == _described()


def test_every_address_that_is_answered_is_in_the_table_and_no_other() -> None:
    answered = set(_routes(get_resolver().url_patterns))
    answered |= {f"/{cast(Any, route).pattern}" for route in sockets.routes}
    assert {path for _, path in WHO_MAY} == answered


def ask(who: Api, method: str, path: str) -> Answer:
    body: dict[str, str] | None = None if method == "GET" else {}
    values = {"id": "1", "attempt": "1", "number": "1", "round": "1", "page": "jobs/1", "name": "index.js"}
    values["digest"] = "0" * 64
    return who.ask(method, path.format(**values), body)


def is_refused(answer: Answer) -> bool:
    """For who asks; whatever else may be wrong with the question."""
    assert answer.status != 500
    return answer.status in (401, 403)


def refusals(who: Api) -> dict[tuple[str, str], str | None]:
    """Every address, and why it refuses that person; None where it does not."""
    answers = {(method, path): ask(who, method, path) for method, path, _ in HTTP}
    return {rule: answer.body["reason"] if is_refused(answer) else None for rule, answer in answers.items()}


def test_a_stranger_gets_what_anybody_may_have(nobody: Api) -> None:
    expected = {(m, p): None if who == ANYBODY else "not_authenticated" for m, p, who in HTTP}
    assert refusals(nobody) == expected


def test_a_viewer_gets_all_but_what_is_for_operators(viewer: Api) -> None:
    assert refusals(viewer) == {(m, p): "not_an_operator" if who == OPERATORS else None for m, p, who in HTTP}


def test_an_operator_is_refused_nothing(operator: Api) -> None:
    assert set(refusals(operator).values()) == {None}


def test_methods_that_are_not_in_the_table_are_not_taken(operator: Api) -> None:
    methods = {"POST", "PUT", "PATCH", "DELETE"}
    others = {(method, path) for _, path, _ in HTTP for method in methods if (method, path) not in WHO_MAY}
    taken = {rule for rule in others if ask(operator, *rule).status not in (404, 405)}
    assert taken == set()


def test_a_viewer_with_a_cookie_changes_nothing_either(vera: Account) -> None:
    browser = Api(client=browser_of(vera))
    for method, path, who in HTTP:
        if who == OPERATORS:
            assert ask(browser, method, path).body["reason"] == "not_an_operator"


def test_the_refusal_of_a_viewer_says_who_may(viewer: Api) -> None:
    answer = viewer.post("/api/jobs", {"script": "/data/train.py"})
    assert answer.body["reason"] == "not_an_operator"
    assert "vera is a viewer" in answer.body["what"]
    assert "make_user" in answer.body["what_to_do"]


HOST = "localhost:8000"
OURS = f"http://{HOST}"

SOCKETS = {
    "a viewer's page": ("cookie", HOST, OURS, "open"),
    "a viewer's script": ("bearer", HOST, None, "open"),
    "a page without an account": (None, HOST, OURS, 4401),
    "a script with a made-up token": ("made up", HOST, None, 4401),
    "a cookie without an origin": ("cookie", HOST, None, "refused"),
    "a page of another site": ("cookie", HOST, "https://elsewhere.example", "refused"),
    "a page of another port of this host": ("cookie", HOST, "http://localhost:3000", "refused"),
    "a page that has no origin": ("cookie", HOST, "null", "refused"),
    "a host that is not ours": ("cookie", "elsewhere.example", "https://elsewhere.example", "refused"),
    "nobody from another site": (None, HOST, "https://elsewhere.example", "refused"),
}
"""Who asks for the socket: credential, Host, Origin, and what comes of it."""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("row", SOCKETS)
async def test_the_socket_opens_for_accounts_on_our_own_page(vera: Account, row: str) -> None:
    credential, host, origin, expected = SOCKETS[row]
    headers = {"host": host} | ({"origin": origin} if origin else {})
    headers |= await database_sync_to_async(_headers)(vera, credential)
    if expected == "open":
        async with connected(Page(**headers)) as page:
            assert (await page.frame("hello"))["type"] == "hello"
        return
    page = Page(**headers)
    answer = await page.open()
    # Refused: the connection is never accepted, which a browser sees as status 403.
    assert answer["type"] == ("websocket.close" if expected == "refused" else "websocket.accept")
    assert expected == "refused" or await page.closed() == expected


def _headers(account: Account, credential: str | None) -> dict[str, str]:
    match credential:
        case "cookie":
            return {"cookie": f"regroup_session={browser_of(account).cookies['regroup_session'].value}"}
        case "bearer":
            return {"authorization": f"Bearer {make_token(account)}"}
        case "made up":
            return {"authorization": "Bearer rg_made_up"}
        case _:
            return {}


def test_a_file_of_the_page_needs_no_account(client: Client) -> None:
    assert client.get("/static/ninja/swagger-ui.css").status_code == 200

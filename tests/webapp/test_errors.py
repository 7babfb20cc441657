"""Every refusal has one form: what, where, what to do, and a word for programs."""

from __future__ import annotations

import logging

import pytest
from django.db import DatabaseError, InterfaceError, InternalError, OperationalError

from tests.webapp.api_client import Answer, Api
from tests.webapp.factories import make_job
from webapp.accounts.models import Account
from webapp.jobs import api as jobs_api


def is_error(answer: Answer, status: int, reason: str) -> bool:
    assert {"what", "where", "what_to_do", "reason", "faults"} == set(answer.body)
    assert answer.body["what"].endswith(".")
    return (answer.status, answer.body["reason"]) == (status, reason)


def test_an_unknown_job_command_and_address(operator: Api) -> None:
    assert is_error(operator.get("/api/jobs/999"), 404, "not_found")
    assert is_error(operator.get("/api/jobs/99999999999999999999999"), 404, "not_found")
    assert is_error(operator.get("/api/commands/none"), 404, "not_found")
    assert is_error(operator.get("/api/nowhere"), 404, "not_found")


def test_a_method_that_an_address_does_not_take(operator: Api) -> None:
    answer = operator.ask("PUT", "/api/jobs", {})
    assert is_error(answer, 405, "method_not_allowed")
    assert "POST" in answer.headers["Allow"]


def test_a_body_that_is_no_json(operator: Api) -> None:
    assert is_error(operator.post("/api/jobs", b"{not json"), 400, "unreadable")


@pytest.mark.parametrize("text", [r"a\u0000b", r"a\ud800b"], ids=["U+0000", "half a character"])
@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("/api/jobs", '{"script": "/x.py", "name": "%s"}', "name"),
        ("/api/jobs", '{"script": "/x.py", "env": {"A": "%s"}}', "env.A"),
        ("/api/jobs", '{"script": "/x.py", "args": ["%s"]}', "args"),
        ("/api/session", '{"username": "%s", "password": "x"}', "username"),
    ],
)
def test_text_that_no_row_can_keep_is_refused_at_its_field(
    operator: Api, path: str, body: str, where: str, text: str
) -> None:
    answer = operator.post(path, (body % text).encode())
    assert is_error(answer, 422, "invalid")
    assert answer.body["where"] == where


def test_a_question_that_no_row_can_answer_is_refused(operator: Api) -> None:
    for path in ("/api/jobs?q=a%00", "/api/nodes?cursor=%00", "/api/jobs?node=%00"):
        assert is_error(operator.get(path), 422, "invalid")


def test_numbers_beyond_all_columns_are_answered(operator: Api, anna: Account) -> None:
    job, huge = make_job(anna), 10**17
    for path in ("events?after", "commands?cursor", "logs?rank", "logs?round", "timeline?attempt"):
        assert operator.get(f"/api/jobs/{job.id}/{path}={huge}").status == 200, path


def test_each_wrong_field_is_named(operator: Api) -> None:
    answer = operator.post("/api/jobs", {"script": "/x.py", "max_restarts": "two", "env": {"A": 1}})
    assert is_error(answer, 422, "invalid")
    assert [fault["where"] for fault in answer.body["faults"]] == ["max_restarts", "env.A"]
    assert all(fault["message"].endswith(".") for fault in answer.body["faults"])


def test_a_wrong_query_parameter_is_named(operator: Api) -> None:
    assert operator.get("/api/jobs?limit=0").body["where"] == "limit"
    assert operator.get("/api/jobs?cursor=x").body["where"] == "cursor"
    assert operator.get("/api/jobs?state=dancing").body["where"] == "state"


def test_a_spec_that_cannot_run_is_refused_at_its_field(operator: Api) -> None:
    answer = operator.post("/api/jobs", {"script": "/x.py", "nnodes": "3:2"})
    assert is_error(answer, 422, "invalid")
    assert answer.body["faults"] == [
        {"where": "nnodes", "message": answer.body["what"], "what_to_do": ""},
    ]
    assert "Write 2:3" in answer.body["what"]


def test_a_bug_is_logged_with_its_traceback_and_shown_without(
    operator: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(job_id: int) -> None:
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr(jobs_api, "_job", broken)
    with caplog.at_level(logging.ERROR):
        answer = operator.get("/api/jobs/1")
    assert is_error(answer, 500, "internal")
    assert "secret detail" not in str(answer.body)
    assert "ZeroDivisionError: a secret detail" in caplog.text


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("database is locked"),
        DatabaseError("database disk image is malformed"),
        InternalError("cannot execute UPDATE in a read-only transaction"),
        InterfaceError("connection already closed"),
    ],
    ids=str,
)
def test_a_silent_database_is_said_so(
    operator: Api, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(job_id: int) -> None:
        raise error

    monkeypatch.setattr(jobs_api, "_job", fails)
    answer = operator.get("/api/jobs/1")
    assert is_error(answer, 503, "database_unavailable")
    assert "Training goes on" in answer.body["what"]
